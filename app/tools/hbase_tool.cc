#include "app/tools/hbase_tool.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <prometheus/registry.h>

#include "app/server/wait_for.h"
#include "app/stores/cells.h"
#include "app/stores/stores.h"
#include "app/tools/hbase_tables.h"
#include "common/config/config_value.h"
#include "common/threads/io_threads.h"
#include "common/units.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/hbase/regions/table_regions.h"
#include "storage/cells/layouts/cyclic_options.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::app {
namespace {

using storage::RegionPlan;
using storage::hbase::FamilyDescriptor;
using storage::hbase::ServerStatus;
using storage::hbase::TableDescriptor;

// HBase's defaults: MEMSTORE_FLUSHSIZE, and hbase.regionserver.global.memstore.size.
constexpr double kFlushBytes = 128 * kMiB;
constexpr double kMemoryShare = 0.4;

// The common base of both tools.
struct Cluster {
  explicit Cluster(const Options& options)
      : threads(1, "tool"),
        executor(threads.executors().front()),
        store(std::make_unique<storage::HBaseStore>(options.hbase.store, clock, registry)) {}
  ~Cluster() {
    static_cast<void>(wait_for(executor, store->close()));
    store.reset();
    threads.join();
  }
  Cluster(const Cluster&) = delete;

  SystemClock clock;
  prometheus::Registry registry;
  IoThreads threads;
  const boost::asio::any_io_executor executor;
  std::unique_ptr<storage::HBaseStore> store;
};

Result<std::shared_ptr<const storage::RowLayout>> layout_of(const Options& options) {
  if (options.row_layout == RowLayoutKind::kOpentsdb) {
    TRY(auto layout, storage::OpentsdbLayout::make(opentsdb_rows(options, options.salt_width)));
    return std::shared_ptr<const storage::RowLayout>(std::move(layout));
  }
  TRY(auto layout, storage::CyclicLayout::make(options.layout));
  return std::shared_ptr<const storage::RowLayout>(std::move(layout));
}

std::string attribute(const storage::hbase::Attributes& attributes, const std::string& name,
                      std::string_view standard) {
  const auto found = attributes.find(name);
  return found == attributes.end() ? std::string(standard) : found->second;
}

std::string ttl_text(const FamilyDescriptor& family) {
  const Result<std::int64_t> ttl_s = storage::ttl_s_of(family);
  if (!ttl_s) return fmt::format("unknown ({})", ttl_s.error().message);
  return *ttl_s == storage::kForEverS ? "none" : fmt::format("{} s", *ttl_s);
}

std::string ttl_text(const TableDescriptor& table) { return ttl_text(table.families.front()); }

std::string size_text(double bytes) {
  return bytes < 1024 * kMiB ? fmt::format("{:.0f} MiB", bytes / kMiB)
                             : fmt::format("{:.1f} GiB", bytes / kMiB / 1024);
}

class ToolOutput {
 public:
  template <class... Args>
  void line(std::string_view name, fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), "{:<14}{}\n", name,
                   fmt::format(format, std::forward<Args>(args)...));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void tell_plan(const Options& options, const RegionPlan& plan, ToolOutput& report) {
  if (!plan.fixed) {
    report.line("regions", "{}, split at salts; HBase splits them further as they grow",
                plan.regions);
    return;
  }
  report.line("regions", "{}: {} salts, {} slots of {} each; fixed", plan.regions,
              options.layout.salt_buckets, plan.slots_per_region,
              storage::duration_text(options.layout.span_ms));
  if (plan.dead_ms == 0) {
    report.line("warning",
                "each region always holds live data, so expired data is removed only by HBase's "
                "own compactions; use more slots (storage.slots) or regions (hbase.regions_max)");
  } else {
    report.line("empty",
                "each region for {:.1f} days per cycle; requested between {}:00 and {}:00 UTC",
                static_cast<double>(plan.dead_ms) / kDayMs, options.hbase.care.hour_begin,
                options.hbase.care.hour_end);
  }
}

void tell_table(const TableDescriptor& table, ToolOutput& report) {
  for (const FamilyDescriptor& family : table.families) {
    const auto of = [&family](const char* name, std::string_view standard) {
      return attribute(family.attributes, name, standard);
    };
    report.line("family " + family.name,
                "compression {}, encoding {}, bloom filter {}, block cache {}, TTL {}",
                of("COMPRESSION", "NONE"), of("DATA_BLOCK_ENCODING", "NONE"),
                of("BLOOMFILTER", "ROW"), of("BLOCKCACHE", "true"), ttl_text(family));
  }
  report.line("splitting", "{}; normalizer {}",
              attribute(table.attributes, "SPLIT_ENABLED", "true"),
              attribute(table.attributes, "NORMALIZATION_ENABLED", "as HBase's"));
}

// Reports a table that already existed; only its TTL may have changed.
void tell_kept(const Options& options, const TableDescriptor& before, const TableDescriptor& table,
               ToolOutput& report) {
  if (ttl_text(before) == ttl_text(table)) {
    report.line(table.name, "already exists; not changed");
  } else {
    report.line(table.name, "already exists; its TTL was {} and is now {}", ttl_text(before),
                ttl_text(table));
  }
  const storage::HBaseTableOptions& tables = options.hbase.store.tables;
  const std::int64_t wanted_s = storage::ttl_s_for(cell_ttl_ms(options.layout), tables);
  const Result<std::int64_t> ttl_s = storage::ttl_s_of(table.families.front());
  if (!tables.expire || !ttl_s || *ttl_s <= wanted_s) return;
  report.line("TTL",
              "longer than storage.ttl_ms ({} s); --lower-ttl lowers it and deletes older data for "
              "all users of the table",
              wanted_s);
}

// Each region with writes needs a memstore; the servers need memory for all of them.
void tell_memory(const TablePlan& plan, const TableDescriptor& table, ToolOutput& report) {
  const auto servers = static_cast<double>(std::max<std::size_t>(1, plan.servers.size()));
  const double active = std::ceil(plan.regions.active / servers);
  report.line("active", "{} regions at a time, {:.0f} per server of {}", plan.regions.active,
              active, plan.servers.size());
  double flush = kFlushBytes;
  const std::string set = attribute(table.attributes, "MEMSTORE_FLUSHSIZE", "");
  if (!set.empty()) {
    const Result<std::int64_t> bytes = parse_bytes(set);
    if (bytes) flush = static_cast<double>(*bytes);
    if (!bytes) {
      report.line("warning", "MEMSTORE_FLUSHSIZE {}; assumed {}", bytes.error().message,
                  size_text(flush));
    }
  }
  const double needed = active * flush * static_cast<double>(table.families.size());
  const auto least = std::ranges::min_element(plan.servers, {}, &ServerStatus::heap_mib_max);
  if (least == plan.servers.end()) return;
  const double room = kMemoryShare * least->heap_mib_max * kMiB;
  report.line("memory", "{} for them, {:.0f} x {}, of {} ({:.0f} % of the smallest heap)",
              size_text(needed), active, size_text(flush), size_text(room), kMemoryShare * 100);
  if (needed > room) {
    report.line("warning",
                "too little: the servers will write many small files. Use fewer salts "
                "(storage.salt_buckets), more servers or a smaller MEMSTORE_FLUSHSIZE");
  }
}

std::string_view place_of(const std::string& server) {
  return server.empty() ? std::string_view("not online") : server;
}

void tell_servers(const storage::TableRegions& table, std::string& text) {
  text += fmt::format("\n{:<32}{:>9}{:>14}{:>14}{:>11}{:>11}\n", "server", "regions", "reads",
                      "writes", "files MiB", "memory MiB");
  for (const storage::ServerLoad& load : storage::loads_of_servers(table)) {
    text += fmt::format("{:<32}{:>9}{:>14}{:>14}{:>11}{:>11}\n", place_of(load.server),
                        load.regions, load.reads, load.writes, load.files_mib, load.memory_mib);
  }
}

}  // namespace

Result<std::string> create_hbase_tables(const Options& options) {
  Options wanted = options;
  wanted.hbase.store.tables.create = true;
  TRY_VOID(storage::hbase::Client::check(wanted.hbase.store.client));
  Cluster cluster(wanted);
  TRY(const std::shared_ptr<const storage::RowLayout> layout, layout_of(wanted));
  TRY(const TablePlan plan, plan_table(wanted, *layout, *cluster.store, cluster.executor));
  TRY(const auto before, find_point_table(wanted, *cluster.store, cluster.executor));
  // As at the start of a server.
  TRY(const std::unique_ptr<Stores> stores,
      open_stores(wanted, cluster.clock, cluster.executor, cluster.registry));
  TRY_VOID(stores->close());
  TRY(const auto table, find_point_table(wanted, *cluster.store, cluster.executor));
  if (!table) {
    return fail(Errc::kUnavailable, "the table of points was created and removed at once");
  }
  ToolOutput report;
  if (before) {
    tell_kept(wanted, *before, *table, report);
  } else {
    report.line(table->name, "created");
    tell_plan(wanted, plan.regions, report);
  }
  tell_table(*table, report);
  tell_memory(plan, *table, report);
  return report.take();
}

Result<std::string> show_hbase_regions(const Options& options) {
  TRY_VOID(storage::hbase::Client::check(options.hbase.store.client));
  Cluster cluster(options);
  const std::string name = cluster.store->whole_name(options.cells.data_table);
  TRY(const auto regions, wait_for(cluster.executor, cluster.store->client().regions(name)));
  const storage::TableRegions table =
      storage::describe_regions(name, regions, options.row_layout == RowLayoutKind::kCyclic);
  std::string text = fmt::format("{:<24}{:<32}{:>14}{:>14}{:>7}{:>11}{:>12}\n", "from", "server",
                                 "reads", "writes", "files", "files MiB", "memory MiB");
  for (const storage::TableRegion& region : table.regions) {
    text += fmt::format("{:<24}{:<32}{:>14}{:>14}{:>7}{:>11}{:>12}{}\n", region.from,
                        place_of(region.server), region.reads, region.writes, region.files,
                        region.files_mib, region.memory_mib, region.hot ? "  hot" : "");
  }
  tell_servers(table, text);
  return text;
}

}  // namespace halite::app
