#include "storage/backends/hbase/point_load/point_loader.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "common/gather.h"
#include "common/log.h"
#include "storage/backends/hbase/messages/table_descriptor.h"
#include "storage/cells/layouts/column.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::storage {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kPieceBytes = 1 << 20;    // that a file is sent in
constexpr std::size_t kColumnPointsMax = 3600;  // of a compacted column, as hbase.compact_batches
constexpr TimestampMs kGapStamp = 1;            // older than all that anyone writes
constexpr auto kPause = std::chrono::milliseconds(500);  // before a file is written again

std::string random_name() {
  std::random_device device;
  return fmt::format("halite-{:08x}{:08x}", device(), device());
}

const hbase::FamilyDescriptor* family_of(const hbase::TableDescriptor& table, BytesView name) {
  const auto found = std::ranges::find(table.families, name,
                                       [](const auto& family) { return BytesView(family.name); });
  return found == table.families.end() ? nullptr : &*found;
}

std::string attribute(const hbase::FamilyDescriptor& family, const std::string& name) {
  const auto found = family.attributes.find(name);
  return found == family.attributes.end() ? std::string() : found->second;
}

bool expires(const hbase::FamilyDescriptor& family) {
  const std::string ttl = attribute(family, "TTL");
  return !ttl.empty() && ttl != "FOREVER" && ttl != "2147483647";
}

hbase::HFileCompression compression_of(const hbase::FamilyDescriptor& family) {
  const std::string name = attribute(family, "COMPRESSION");
  if (name == "GZ") return hbase::HFileCompression::kGz;
  if (name == "ZSTD") return hbase::HFileCompression::kZstd;
  return hbase::HFileCompression::kNone;
}

// Another attempt may succeed.
bool passes(const Error& error) {
  return error.code == Errc::kUnavailable || error.code == Errc::kTimeout;
}

}  // namespace

Task<std::unique_ptr<PointLoader>> PointLoader::open(Dependencies dependencies,
                                                     PointLoaderOptions options) {
  CO_TRY(const std::optional<hbase::TableDescriptor> table,
         co_await dependencies.client.describe_table(dependencies.table));
  const hbase::FamilyDescriptor* const family =
      table ? family_of(*table, dependencies.family) : nullptr;
  if (family == nullptr) {
    co_return fail(Errc::kNotFound, fmt::format("HBase has no table {} with the family {}",
                                                dependencies.table, dependencies.family));
  }
  if (options.fill_gaps && (dependencies.expires || expires(*family))) {
    co_return fail(Errc::kInvalidArgument,
                   fmt::format("cannot only fill gaps of the table {}, which has a TTL: such cells "
                               "have the time 1 ms and would have expired",
                               dependencies.table));
  }
  const hbase::HFileCompression compression = options.compression.value_or(compression_of(*family));
  CO_TRY_VOID(co_await dependencies.directory->make(dependencies.family));
  co_return std::unique_ptr<PointLoader>(
      new PointLoader(std::move(dependencies), options, compression));
}

PointLoader::PointLoader(Dependencies dependencies, PointLoaderOptions options,
                         hbase::HFileCompression compression)
    : dependencies_(std::move(dependencies)),
      options_(options),
      compression_(compression),
      opentsdb_(dynamic_cast<const OpentsdbLayout*>(dependencies_.layout.get()) != nullptr),
      name_(random_name()) {}

// Later than the cells that this process has stamped, and than those of its earlier batches.
TimestampMs PointLoader::next_stamp() {
  if (options_.fill_gaps) return kGapStamp;
  last_stamp_ = std::max(
      {dependencies_.clock.now_ms(), dependencies_.cells->newest_stamp() + 1, last_stamp_ + 1});
  return last_stamp_;
}

Task<LoadedPoints> PointLoader::load(PointBatch batch) {
  LoadedPoints report;
  const SortedPoints points =
      SortedPoints::make(std::move(batch), dependencies_.series, *dependencies_.layout,
                         dependencies_.clock.now_ms(), report.refused);
  report.points = points.point_count();
  report.rows = points.row_count();
  const TimestampMs stamp = next_stamp();
  std::vector<Piece> left;
  if (points.row_count() > 0) left.push_back({.begin = 0, .end = points.row_count(), .path = {}});
  for (std::uint32_t attempt = 1; !left.empty(); ++attempt) {
    CO_TRY(std::vector<Piece> pieces, co_await cut(points, std::move(left)));
    Task<std::vector<Piece>> loading = load_pieces(points, pieces, stamp, report);
    Result<std::vector<Piece>> split = co_await std::move(loading);
    // HBase leaves files that it copied, and we those that it did not take.
    const Result<void> removed = co_await remove_files(pieces);
    if (!removed) log::warn("files of a bulk load stay: {}", removed.error().message);
    CO_TRY(left, std::move(split));
    for (const Piece& piece : left) report.rows_again += piece.end - piece.begin;
    if (!left.empty() && attempt >= options_.attempts_max) {
      co_return fail(Errc::kUnavailable,
                     fmt::format("the regions of {} were split during each of {} attempts to load "
                                 "points",
                                 dependencies_.table, attempt));
    }
  }
  co_return report;
}

Task<std::vector<PointLoader::Piece>> PointLoader::cut(const SortedPoints& points,
                                                       std::vector<Piece> pieces) {
  CO_TRY(const std::vector<KeyRange> regions,
         co_await dependencies_.client.region_ranges(dependencies_.table));
  std::vector<Piece> cut;
  for (const Piece& piece : pieces) {
    std::size_t begin = piece.begin;
    for (const KeyRange& region : regions) {
      const std::size_t end = region.end.empty()
                                  ? piece.end
                                  : std::clamp(points.lower_bound(region.end), begin, piece.end);
      if (end == begin) continue;
      cut.push_back({.begin = begin,
                     .end = end,
                     .path = dependencies_.directory->path_of(
                         dependencies_.family, fmt::format("{}-{}", name_, ++files_))});
      begin = end;
    }
    if (begin < piece.end) {
      co_return fail(Errc::kUnavailable,
                     fmt::format("hbase:meta has no region for row {} of {}",
                                 to_hex(points.key(begin)), dependencies_.table));
    }
  }
  co_return cut;
}

Task<std::vector<PointLoader::Piece>> PointLoader::load_pieces(const SortedPoints& points,
                                                               std::vector<Piece>& pieces,
                                                               TimestampMs stamp,
                                                               LoadedPoints& report) {
  std::vector<Task<hbase::HFileSummary>> writes;
  for (const Piece& piece : pieces) writes.push_back(write(points, piece, stamp));
  std::vector<Result<hbase::HFileSummary>> files =
      co_await gather(std::move(writes), options_.regions_at_once);
  hbase::BulkLoad load{.table = dependencies_.table,
                       .family = dependencies_.family,
                       .files = {},
                       .options = options_.load};
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    CO_TRY(hbase::HFileSummary file, std::move(files[i]));
    report.bytes += file.bytes;
    ++report.files;
    load.files.push_back({.path = pieces[i].path,
                          .first_row = std::move(file.first_row),
                          .last_row = std::move(file.last_row)});
  }
  auto loading = hbase::load_files(dependencies_.client, *dependencies_.directory, std::move(load));
  CO_TRY(const std::vector<hbase::LoadedFile> outcomes, co_await std::move(loading));
  std::vector<Piece> split;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (outcomes[i] != hbase::LoadedFile::kLoaded) split.push_back(pieces[i]);
  }
  co_return split;
}

Task<hbase::HFileSummary> PointLoader::write(const SortedPoints& points, const Piece& piece,
                                             TimestampMs stamp) {
  for (std::uint32_t attempt = 1;; ++attempt) {
    Result<hbase::HFileSummary> file = co_await write_once(points, piece, stamp);
    if (file || !passes(file.error()) || attempt >= options_.attempts_max) co_return file;
    log::info("writes the file {} again: {}", piece.path, file.error().message);
    asio::steady_timer timer(co_await asio::this_coro::executor, kPause);
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
  }
}

Task<hbase::HFileSummary> PointLoader::write_once(const SortedPoints& points, const Piece& piece,
                                                  TimestampMs stamp) {
  CO_TRY(const std::unique_ptr<hbase::LoadFileWriter> to,
         co_await dependencies_.directory->create(piece.path));
  hbase::HFileWriter file(
      {.compression = compression_, .created_ms = dependencies_.clock.now_ms()});
  for (std::size_t i = piece.begin; i < piece.end; ++i) {
    CO_TRY_VOID(add_row(points.row(i), stamp, file));
    if (file.ready() >= kPieceBytes) CO_TRY_VOID(co_await to->write(file.take()));
  }
  CO_TRY(hbase::HFileSummary summary, file.finish());
  CO_TRY_VOID(co_await to->write(file.take()));
  CO_TRY_VOID(co_await to->finish());
  co_return summary;
}

Result<void> PointLoader::add_row(const SortedPoints::Row& row, TimestampMs stamp,
                                  hbase::HFileWriter& file) {
  const auto add = [&](const PointCell& cell) {
    return file.add({.row = row.key,
                     .family = dependencies_.family,
                     .qualifier = cell.qualifier,
                     .time = stamp,
                     .value = cell.value});
  };
  if (!opentsdb_) {
    for (std::size_t i = 0; i < row.times.size(); ++i) {
      TRY_VOID(add(dependencies_.layout->point_cell(row.times[i], row.values[i], row.flags[i])));
    }
    return {};
  }
  const std::int64_t span_ms = dependencies_.layout->bucket_span_ms();
  const TimestampMs base = row.times.front() / span_ms * span_ms;
  std::vector<PointCell> columns;
  for (std::size_t begin = 0; begin < row.times.size(); begin += kColumnPointsMax) {
    const std::size_t count = std::min(kColumnPointsMax, row.times.size() - begin);
    columns.push_back(compacted_cell(base, row.times.subspan(begin, count),
                                     row.values.subspan(begin, count),
                                     row.flags.subspan(begin, count)));
  }
  // Qualifiers of seconds sort before those of milliseconds.
  std::ranges::sort(columns, {}, &PointCell::qualifier);
  for (const PointCell& column : columns) TRY_VOID(add(column));
  return {};
}

Task<void> PointLoader::remove_files(const std::vector<Piece>& pieces) {
  std::vector<Task<void>> removals;
  for (const Piece& piece : pieces) {
    removals.push_back(dependencies_.directory->remove(piece.path));
  }
  const std::vector<Result<void>> removed =
      co_await gather(std::move(removals), options_.regions_at_once);
  for (const Result<void>& one : removed) CO_TRY_VOID(one);
  co_return Result<void>();
}

}  // namespace halite::storage
