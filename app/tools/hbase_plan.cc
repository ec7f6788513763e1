#include "app/tools/hbase_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/config/config_value.h"
#include "common/units.h"

namespace halite::app {
namespace {

constexpr double kDayS = 86'400;
constexpr double kHourS = 3'600;
constexpr double kMillion = 1e6;

// Rules of thumb.
constexpr double kUsualMetrics = 1000;
constexpr double kCpuShare = 0.5;       // of the cores: the rest is for queries and bad hours
constexpr double kDiskShare = 0.7;      // of the disks: the rest is for compactions and HDFS
constexpr double kRegionFull = 0.75;    // a split leaves two halves
constexpr double kSaltsPerServer = 4;   // if a server dies, four others take its load
constexpr double kSaltsMax = 1024;      // a query scans each of them
constexpr double kRingSaltsMax = 256;   // one byte
constexpr double kRingRegionsMax = 50;  // hbase.regions_max
constexpr double kDaemonsMin = 2;       // one may be down
// Halite's defaults: half of memory.limit, which is 60 % of the machine; and storage.series_max.
constexpr double kSeriesMemoryShare = 0.3;
constexpr double kSeriesMax = 1e8;
constexpr double kQuerySeriesMax = 1e6;  // query.series_max
// HBase's reference guide and defaults.
constexpr double kRegionsPerServer = 200;
constexpr double kRegionBytes = 10.0 * kGiB;     // hbase.hregion.max.filesize
constexpr double kRegionBytesMax = 50.0 * kGiB;  // larger ones take hours to compact
constexpr double kStandardFlush = 128.0 * kMiB;  // hbase.hregion.memstore.flush.size
constexpr double kWorthASetting = 0.7;           // of the rewrites remain
constexpr double kSmallFlush = 16.0 * kMiB;
constexpr double kMemstoreShare = 0.4;    // hbase.regionserver.global.memstore.size
constexpr double kHeapMax = 31.0 * kGiB;  // above, Java's pointers double
constexpr double kMajorDays = 7;          // hbase.hregion.majorcompaction
constexpr double kUidsOfThreeBytes = 16'777'215;

struct Load {
  double points_per_s = 0;
  double series = 0;
  double days = 0;
  double tags = 0;
  double metrics = 0;
  double tag_values = 0;
  WriteForm form = WriteForm::kCells;
  double replication = 0;
  double cores = 0;
  double disk = 0;    // bytes
  double memory = 0;  // bytes
};

Result<double> in_range(std::string_view option, double value, double least, double most) {
  if (value >= least && value <= most) return value;  // not NaN
  return fail(Errc::kInvalidArgument,
              fmt::format("{} must be from {} to {:g}, not {}", option, least, most, value));
}

Result<double> size_of(std::string_view option, const std::string& text, double least) {
  const Result<std::int64_t> bytes = parse_bytes(text);
  if (!bytes) {
    return fail(Errc::kInvalidArgument, fmt::format("{} {}", option, bytes.error().message));
  }
  if (static_cast<double>(*bytes) >= least) return static_cast<double>(*bytes);
  return fail(Errc::kInvalidArgument,
              fmt::format("{} must be at least {}, not \"{}\"", option,
                          bytes_text(static_cast<std::int64_t>(least)), text));
}

Result<Load> load_of(const HBasePlanFlags& flags) {
  constexpr double kMost = 1e15;
  Load load;
  TRY(load.points_per_s, in_range("--points-per-s", flags.points_per_s, 1, kMost));
  TRY(load.series, in_range("--series", flags.series, 1, kMost));
  TRY(load.days, in_range("--days", flags.days, 1, 36'500));
  TRY(load.tags, in_range("--tags", flags.tags, 1, 32));
  load.metrics = std::min(kUsualMetrics, load.series);
  if (flags.metrics != 0) {
    TRY(load.metrics, in_range("--metrics", flags.metrics, 1, kMost));
  }
  if (load.metrics > load.series) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("--metrics {} is more than --series {}: a metric has at least one series",
                    flags.metrics, flags.series));
  }
  load.tag_values = std::ceil(load.series / load.metrics);
  if (flags.tag_values != 0) {
    TRY(load.tag_values, in_range("--tag-values", flags.tag_values, 1, load.series));
  }
  const auto form = std::ranges::find(kWriteForms, flags.form);
  if (form == kWriteForms.end()) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("--form must be cells, ring, appends or backfill, not \"{}\"", flags.form));
  }
  load.form = static_cast<WriteForm>(std::distance(kWriteForms.begin(), form));
  TRY(load.replication, in_range("--replication", static_cast<double>(flags.replication), 1, 10));
  TRY(load.cores, in_range("--cores", static_cast<double>(flags.cores), 1, 1024));
  TRY(load.disk, size_of("--disk", flags.disk, kGiB));
  TRY(load.memory, size_of("--memory", flags.memory, kGiB));
  return load;
}

// Computes the figures in the order in which docs/scaling.md derives them.
class Planner {
 public:
  explicit Planner(const Load& load)
      : load_(load),
        points_per_row_(std::clamp(kHourS * load.points_per_s / load.series, 1.0, kHourS)),
        costs_(point_costs(load.form, points_per_row_, load.tags)) {}

  HBasePlan run() {
    bytes();
    cluster();
    memstores();
    daemons();
    uids();
    return std::move(plan_);
  }

 private:
  void add(std::string_view id, std::string_view name, double value, std::string_view unit,
           std::string source) {
    plan_.figures.push_back(
        {std::string(id), std::string(name), value, std::string(unit), std::move(source)});
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) {
    plan_.warnings.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
  [[nodiscard]] bool ring() const { return load_.form == WriteForm::kRing; }

  void bytes() {
    constexpr const char* kByTheBench = "measured (bench/hbase_scale_bench.py)";
    add("points_per_row", "points of a series an hour", points_per_row_, "points",
        "3600 x points/s / series, 1 to 3600");
    add("stored_bytes_per_point", "bytes of a point in files", costs_.stored, "bytes", kByTheBench);
    stored_ = load_.points_per_s * kDayS * load_.days * costs_.stored;
    add("stored_bytes", "bytes of all points", stored_, "bytes",
        "points/s x 86400 x days x bytes of a point");
    add("replicated_bytes", "the same on disks", stored_ * load_.replication, "bytes",
        fmt::format("x replication {}", load_.replication));
    add("disk_bytes", "disks needed", stored_ * load_.replication / kDiskShare, "bytes",
        fmt::format("/ {}: room for compactions and HDFS (assumed)", kDiskShare));
    constexpr double kMeasuredLeast = 36;
    if (points_per_row_ < kMeasuredLeast / 2) {
      warn(
          "a series has {:.1f} points an hour; rows with fewer than {} were not measured, and need "
          "more bytes a point",
          points_per_row_, kMeasuredLeast);
    }
  }

  // Region servers, regions and salts. They depend on each other: CPU depends on rewrites, these on
  // the size of flushes, and these on the number of servers.
  void cluster() {
    const double by_disk = stored_ * load_.replication / kDiskShare / load_.disk;
    const double by_regions = stored_ / (kRegionFull * kRegionBytesMax * kRegionsPerServer);
    servers_ = std::ceil(std::max({by_disk, by_regions, load_.replication, 1.0}));
    shape();
    rewrites_ = rewrites_of_byte(file_bytes(), filled_bytes(), kStandardFlush);
    majors_ = major_rewrites();
    const double rewriting = (rewrites_ + majors_) * costs_.rewrite_s;
    const double seconds = costs_.put_s + costs_.flush_s + rewriting;
    const double by_cpu = load_.points_per_s / kMillion * seconds / (load_.cores * kCpuShare);
    servers_ = std::max(servers_, std::ceil(by_cpu));
    shape();

    add("rewrites", "rewrites of a byte by minor compactions", rewrites_, "times",
        "the files that HBase selects for files of a flush, until a region is full");
    add("major_rewrites", "rewrites of a byte by major compactions", majors_, "times",
        "days with writes to a region / 7: hbase.hregion.majorcompaction; 0 turns them off");
    add("server_points_per_core_s", "points a core-second, region server", kMillion / seconds,
        "points",
        fmt::format("measured: put {:.1f} s, flush {:.1f} s, rewrites {:.1f} x {:.1f} s a million",
                    costs_.put_s, costs_.flush_s, rewrites_ + majors_, costs_.rewrite_s));
    add("region_servers", "region servers", servers_, "servers", "the most of the next four");
    add("servers_by_cpu", "  for CPU", std::ceil(by_cpu), "servers",
        fmt::format("points/s / (points a core-second x {} cores x {})", load_.cores, kCpuShare));
    add("servers_by_disk", "  for disks", std::ceil(by_disk), "servers", "disks needed / --disk");
    add("servers_by_regions", "  for regions", std::ceil(by_regions), "servers",
        fmt::format("bytes / ({:.0f} regions of 50 GiB, {} full): HBase's guide", kRegionsPerServer,
                    kRegionFull));
    add("servers_least", "  at least", load_.replication, "servers", "replication");
    add("salts", "salts", salts_, "salts",
        fmt::format("{} a server, {} to {:.0f}; storage.salt_buckets", kSaltsPerServer,
                    kSaltsPerServer, ring() ? kRingSaltsMax : kSaltsMax));
    add("region_bytes_max", "maximum size of a region", region_bytes_, "bytes",
        ring() ? "bytes / regions"
               : "hbase.hregion.max.filesize: 10 GiB, more for at most 200 regions a server");
    add("regions", "regions", regions_, "regions",
        ring() ? "hbase.regions_max (50) a server"
               : fmt::format("bytes / ({} x that size), at least one a salt", kRegionFull));
    add("regions_per_server", "regions a server", regions_ / servers_, "regions",
        "regions / servers");
    if (ring() && region_bytes_ > kRegionBytesMax) {
      warn("regions of {:.0f} GiB take hours to compact; raise hbase.regions_max",
           region_bytes_ / kGiB);
    }
    if (ring() && kSaltsPerServer * servers_ > kRingSaltsMax) {
      warn("a ring has at most {} salts, which is {:.1f} a server: the load will be uneven",
           kRingSaltsMax, salts_ / servers_);
    }
    if (rewriting > seconds / 2 && majors_ > rewrites_) {
      warn(
          "weekly major compactions are {:.0f} % of the region servers' CPU; set "
          "hbase.hregion.majorcompaction = 0, or a longer time",
          100 * majors_ * costs_.rewrite_s / seconds);
    }
    if (!ring() && salts_ > 256) warn("more than 256 salts need storage.salt_width = 2");
  }

  void shape() {
    salts_ =
        std::clamp(kSaltsPerServer * servers_, kSaltsPerServer, ring() ? kRingSaltsMax : kSaltsMax);
    if (ring()) {
      regions_ = std::max(salts_, kRingRegionsMax * servers_);
      region_bytes_ = stored_ / regions_;
      active_ = salts_;
      return;
    }
    region_bytes_ = std::clamp(stored_ / (kRegionFull * kRegionsPerServer * servers_), kRegionBytes,
                               kRegionBytesMax);
    regions_ = std::max(salts_, std::ceil(stored_ / (kRegionFull * region_bytes_)));
    active_ = std::min(regions_, salts_ * load_.metrics);
  }

  [[nodiscard]] double memstore_room() const {
    return kMemstoreShare * std::min(kHeapMax, load_.memory / 2);
  }
  [[nodiscard]] double flush_bytes() const {
    return std::min(kStandardFlush, memstore_room() / std::max(1.0, active_ / servers_));
  }
  // HBase flushes a region at least once an hour.
  [[nodiscard]] double flush_interval_s() const {
    return std::min(kHourS, flush_bytes() / costs_.memstore / (load_.points_per_s / active_));
  }
  [[nodiscard]] double file_bytes() const {
    return flush_interval_s() * load_.points_per_s / active_ * costs_.stored;
  }
  // Of a region that gets no more points.
  [[nodiscard]] double filled_bytes() const {
    return std::min(kRegionFull * region_bytes_, stored_ / regions_);
  }

  // HBase compacts a region with more than one file once a week. A region whose time is over has
  // one file. While a region fills, its bytes are there for half of that time on average.
  [[nodiscard]] double major_rewrites() const {
    const double days = load_.days * active_ / regions_;
    return (active_ < regions_ ? days / 2 : days) / kMajorDays;
  }

  void memstores() {
    const double active = active_ / servers_;
    add("active_regions_per_server", "regions with writes, a server", active, "regions",
        ring() ? "salts / servers" : "the smaller of regions and salts x metrics, / servers");
    add("heap_bytes", "heap of a region server", std::min(kHeapMax, load_.memory / 2), "bytes",
        "half of --memory, at most 31 GiB (assumed)");
    add("memstore_bytes", "memstores of a server", memstore_room(), "bytes",
        "40 % of the heap: hbase.regionserver.global.memstore.size");
    add("memstore_bytes_per_point", "bytes of a point in a memstore", costs_.memstore, "bytes",
        "measured");
    add("flush_bytes", "a region is flushed at", flush_bytes(), "bytes",
        flush_bytes() < kStandardFlush ? "memstores / regions with writes: less than 128 MiB"
                                       : "hbase.hregion.memstore.flush.size");
    add("flush_interval_s", "a region is flushed every", flush_interval_s(), "s",
        "points of a memstore / (points/s / regions with writes); at least once an hour");
    const double write_bytes =
        (costs_.log + costs_.stored * (1 + rewrites_ + majors_)) * load_.replication;
    add("file_bytes", "a flush makes a file of", file_bytes(), "bytes",
        "points of a memstore x bytes of a point in files");
    add("log_bytes_per_point", "bytes of a point in HBase's log", costs_.log, "bytes", "measured");
    add("server_write_bytes_per_s", "disk writes a server, a second",
        load_.points_per_s * write_bytes / servers_, "bytes",
        "points/s x (log + bytes x (1 + rewrites)) x replication / servers");
    const double better = rewrites_of_byte(file_bytes(), filled_bytes(), 2 * file_bytes());
    if (better < rewrites_ * kWorthASetting) {
      warn(
          "compactions merge small files with large ones; hbase.hstore.compaction.min.size = "
          "{:.0f} makes "
          "{:.0f} rewrites of {:.0f}",
          2 * file_bytes(), better, rewrites_);
    }
    if (flush_bytes() < kSmallFlush) {
      warn(
          "{:.0f} regions with writes a server leave {:.0f} MiB of memstore to each: flushes make "
          "many "
          "small files. Use fewer salts, more memory or more servers",
          active, flush_bytes() / kMiB);
    }
  }

  void daemons() {
    const double by_cpu =
        std::ceil(load_.points_per_s / kMillion * costs_.daemon_s / (load_.cores * kCpuShare));
    const double each = series_bytes(load_.tags);
    const double known = std::min(kSeriesMax, kSeriesMemoryShare * load_.memory / each);
    const double by_series = std::ceil(load_.series / known);
    const double daemons = std::max({by_cpu, by_series, kDaemonsMin});
    const double per_metric = load_.series / load_.metrics;
    const NewSeriesCosts fresh = new_series_costs(load_.tags);
    add("daemon_points_per_core_s", "points a core-second, Halite", kMillion / costs_.daemon_s,
        "points", "measured, telnet; a third as many as JSON");
    add("series_bytes", "memory of a series in Halite", each, "bytes", "measured");
    add("daemons", "Halite servers", daemons, "servers", "the most of the next two, at least 2");
    add("daemons_by_cpu", "  for CPU", by_cpu, "servers",
        fmt::format("points/s / (points a core-second x {} cores x {})", load_.cores, kCpuShare));
    add("daemons_by_series", "  for series", by_series, "servers",
        "series x memory / (30 % of --memory), at most storage.series_max (100 M) each; if an "
        "agent "
        "keeps its server");
    add("new_series_core_s", "core-seconds of all first points, region servers",
        load_.series * fresh.server_us / kMillion, "s", "measured: names and series are written");
    if (per_metric > kQuerySeriesMax) {
      warn("a metric has {:.0f} series, and a query may read query.series_max = {:.0f}", per_metric,
           kQuerySeriesMax);
    }
    if (per_metric * each > kSeriesMemoryShare * load_.memory) {
      warn("a query of a whole metric loads {:.0f} series, which do not fit into a server's memory",
           per_metric);
    }
  }

  void uids() {
    uid("metric", "metrics", load_.metrics, "--metrics");
    uid("tag_value", "values of a tag", load_.tag_values,
        "--tag-values, or series / metrics: one tag tells all series of a metric apart");
    if (load_.series > kUidsOfThreeBytes && load_.tag_values <= kUidsOfThreeBytes) {
      warn(
          "3 bytes suffice for {:.0f} tag values in all; if each of the {:.0f} series has a value "
          "of "
          "its own (a request id, a container id), set storage.uid_width_tag_value = {} before the "
          "tables are created",
          kUidsOfThreeBytes, load_.series, width_for(load_.series));
    }
  }

  void uid(std::string_view kind, std::string_view name, double count, std::string source) {
    const double width = std::max(3.0, width_for(count));
    add(fmt::format("uid_width_{}", kind), fmt::format("bytes of a UID, {}", name), width, "bytes",
        fmt::format("{:.0f} names of 16,777,215 in 3 bytes: {}", count, source));
    if (width == 3) return;
    warn(
        "{:.0f} {} do not fit into UIDs of 3 bytes (16,777,215): set storage.uid_width_{} = {} "
        "before "
        "the tables are created; it cannot change later",
        count, name, kind, width);
  }

  // UID 0 is not used.
  static double width_for(double count) {
    double width = 1;
    for (double room = 255; room < count; room = room * 256 + 255) ++width;
    return width;
  }

  const Load load_;
  const double points_per_row_;
  const PointCosts costs_;
  HBasePlan plan_;
  double stored_ = 0;  // bytes, before replication
  double servers_ = 0;
  double salts_ = 0;
  double regions_ = 0;
  double region_bytes_ = 0;  // at most
  double active_ = 0;        // regions with writes
  double rewrites_ = 0;      // of a byte, by minor compactions
  double majors_ = 0;        // and by major ones
};

}  // namespace

Result<HBasePlan> plan_hbase(const HBasePlanFlags& flags) {
  TRY(const Load load, load_of(flags));
  return Planner(load).run();
}

}  // namespace halite::app
