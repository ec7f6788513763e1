#include "storage/meta/objects/ts_meta_store.h"

#include <algorithm>

#include <fmt/format.h>

#include "storage/meta/objects/merge_put.h"

namespace halite::storage {
namespace {

constexpr Family kTsMetaFamily = 0;
// Rows per read; the names' objects of these rows are read together.
constexpr std::uint32_t kScanRows = 512;

Column object_column() { return Column{kTsMetaFamily, "ts_meta"}; }
Column counter_column() { return Column{kTsMetaFamily, "ts_ctr"}; }

Result<TsMeta> parse_stored_ts_meta(BytesView row, const Bytes& cell) {
  Result<TsMetaEdit> read = parse_ts_meta(cell);
  if (!read) {
    return fail(Errc::kCorruption,
                fmt::format("the ts_meta in row {}: {}", to_hex(row), read.error().message));
  }
  if (read->meta.tsuid.empty()) read->meta.tsuid = to_hex(row);
  return std::move(read->meta);
}

class SomeRows final : public SeriesIterator {
 public:
  SomeRows(std::shared_ptr<Table> table, std::vector<Bytes> tsuids)
      : table_(std::move(table)), tsuids_(std::move(tsuids)) {}

  Task<std::optional<std::vector<Bytes>>> next() override {
    if (at_ == tsuids_.size()) co_return std::nullopt;
    std::vector<RowRead> reads;
    for (; at_ < tsuids_.size() && reads.size() < kScanRows; ++at_) {
      reads.push_back(RowRead{std::move(tsuids_[at_]), kTsMetaFamily, {}});
    }
    CO_TRY(std::vector<Row> rows, co_await table_->read(std::move(reads)));
    std::vector<Bytes> have;
    for (Row& row : rows) {
      if (!row.cells.empty()) have.push_back(std::move(row.key));
    }
    co_return std::move(have);
  }

 private:
  const std::shared_ptr<Table> table_;
  std::vector<Bytes> tsuids_;
  std::size_t at_ = 0;
};

class AllRows final : public SeriesIterator {
 public:
  explicit AllRows(std::unique_ptr<Scanner> scanner) : scanner_(std::move(scanner)) {}

  Task<std::optional<std::vector<Bytes>>> next() override {
    CO_TRY(std::vector<Row> rows, co_await scanner_->next(ScanLimit{.rows_max = kWalkRows}));
    if (rows.empty()) co_return std::nullopt;
    std::vector<Bytes> series;
    series.reserve(rows.size());
    for (Row& row : rows) series.push_back(std::move(row.key));
    co_return std::move(series);
  }

 private:
  static constexpr std::uint32_t kWalkRows = 4096;  // keys only
  const std::unique_ptr<Scanner> scanner_;
};

// The object of a row with its counter; nullopt if there is only a counter.
Result<std::optional<TsMeta>> parse_row(const Row& row) {
  std::optional<TsMeta> meta;
  std::int64_t points = 0;
  TimestampMs last = 0;
  for (const Cell& cell : row.cells) {
    if (cell.qualifier == object_column().qualifier) {
      TRY(meta, parse_stored_ts_meta(row.key, cell.value));
    } else if (cell.qualifier == counter_column().qualifier && cell.value.size() == 8) {
      points = static_cast<std::int64_t>(load_be<std::uint64_t>(cell.value.data()));
      last = cell.time;
    }
  }
  if (meta) {
    meta->points = points;
    meta->last_received_s = last / 1000;
  }
  return meta;
}

bool includes(const SeriesUids& series, const std::vector<UidPair>& tags) {
  return std::ranges::all_of(tags, [&series](const UidPair& tag) {
    return std::ranges::find(series.pairs, tag) != series.pairs.end();
  });
}

}  // namespace

TableSpec meta_table_spec(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"name", 0}};
  return spec;
}

TsMetaStore::TsMetaStore(std::shared_ptr<Table> table, UidMetaStore& names, UidWidths widths)
    : table_(std::move(table)), names_(names), widths_(widths) {}

Task<std::optional<TsMeta>> TsMetaStore::read(Bytes tsuid) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{
      std::move(tsuid), kTsMetaFamily, {counter_column().qualifier, object_column().qualifier}});
  CO_TRY(const std::vector<Row> rows, co_await table_->read(std::move(reads)));
  co_return parse_row(rows.front());
}

Task<void> TsMetaStore::add_names(TsMeta& meta, const SeriesUids& uids) {
  const auto bytes = [](std::uint64_t uid, unsigned width) {
    Bytes key;
    append_be_width(key, uid, width);
    return key;
  };
  std::vector<UidMetaStore::Key> keys;
  keys.push_back({NameKind::kMetric, bytes(uids.metric, widths_.metric)});
  for (const UidPair& pair : uids.pairs) {
    keys.push_back({NameKind::kTagKey, bytes(pair.key, widths_.tag_key)});
    keys.push_back({NameKind::kTagValue, bytes(pair.value, widths_.tag_value)});
  }
  CO_TRY(std::vector<UidMeta> names, co_await names_.get_all(std::move(keys)));
  meta.metric = std::move(names.front());
  names.erase(names.begin());
  meta.tags = std::move(names);
  co_return Result<void>();
}

Task<std::optional<TsMeta>> TsMetaStore::get(Bytes tsuid) {
  if (tsuid.empty()) co_return std::nullopt;
  CO_TRY(std::optional<TsMeta> meta, co_await read(tsuid));
  if (!meta) co_return std::nullopt;
  CO_TRY(const SeriesUids uids, parse_tsuid(widths_, tsuid));
  CO_TRY_VOID(co_await add_names(*meta, uids));
  co_return std::move(meta);
}

Task<std::vector<TsMeta>> TsMetaStore::find(std::uint64_t metric_uid, std::vector<UidPair> tags,
                                            std::size_t limit) {
  Bytes prefix;
  append_be_width(prefix, metric_uid, widths_.metric);
  ScanSpec spec;
  spec.family = kTsMetaFamily;
  spec.ranges.push_back(KeyRange{prefix, prefix_end(prefix)});
  const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
  std::vector<TsMeta> found;
  ScanLimit batch;
  batch.rows_max = kScanRows;
  for (;;) {
    CO_TRY(const std::vector<Row> rows, co_await scanner->next(batch));
    if (rows.empty()) co_return std::move(found);
    for (const Row& row : rows) {
      const Result<SeriesUids> uids = parse_tsuid(widths_, row.key);
      if (!uids || !includes(*uids, tags)) continue;
      CO_TRY(std::optional<TsMeta> meta, parse_row(row));
      if (!meta) continue;
      if (found.size() >= limit) {
        co_return fail(
            Errc::kTooLarge,
            fmt::format("more than {} series match; name more tags or raise web.lookup_series_max",
                        limit));
      }
      CO_TRY_VOID(co_await add_names(*meta, *uids));
      found.push_back(std::move(*meta));
    }
  }
}

Task<TsMeta> TsMetaStore::put(Bytes tsuid, TsMetaEdit edit, bool replace) {
  CO_TRY(const SeriesUids uids, parse_tsuid(widths_, tsuid));
  CO_TRY_VOID(co_await add_names(edit.meta, uids));
  const auto merge = [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    if (!stored) return fail(Errc::kInvalidArgument, "Requested TSMeta did not exist");
    TRY(const TsMeta before, parse_stored_ts_meta(tsuid, *stored));
    TsMeta after = merged(edit, before, replace);
    after.tsuid = before.tsuid;
    return stored_json(after);
  };
  const Column column = object_column();
  CO_TRY_VOID(co_await merge_put(*table_, tsuid, column, merge));
  CO_TRY(std::optional<TsMeta> result, co_await get(std::move(tsuid)));
  if (!result) co_return fail(Errc::kInvalidArgument, "Requested TSMeta did not exist");
  co_return std::move(*result);
}

Task<bool> TsMetaStore::exists(Bytes tsuid) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{std::move(tsuid), kTsMetaFamily, {object_column().qualifier}});
  CO_TRY(const std::vector<Row> rows, co_await table_->read(std::move(reads)));
  co_return !rows.front().cells.empty();
}

std::unique_ptr<SeriesIterator> TsMetaStore::series_among(std::vector<Bytes> tsuids) {
  return std::make_unique<SomeRows>(table_, std::move(tsuids));
}

std::unique_ptr<SeriesIterator> TsMetaStore::series() {
  ScanSpec spec;
  spec.family = kTsMetaFamily;
  spec.keys_only = true;
  return std::make_unique<AllRows>(table_->scan(std::move(spec), {}));
}

Task<bool> TsMetaStore::create(Bytes tsuid, TsMeta meta, std::int64_t counter) {
  bool fresh = false;
  const auto merge_counter =
      [counter](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    if (stored) return std::nullopt;
    Bytes value;
    append_be(value, static_cast<std::uint64_t>(counter));
    return value;
  };
  const auto merge_object =
      [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    fresh = !stored;
    if (stored) return std::nullopt;
    return stored_json(meta);
  };
  const Column counter_cell = counter_column();
  CO_TRY_VOID(co_await merge_put(*table_, tsuid, counter_cell, merge_counter));
  const Column object_cell = object_column();
  CO_TRY_VOID(co_await merge_put(*table_, tsuid, object_cell, merge_object));
  co_return fresh;
}

Task<void> TsMetaStore::remove(Bytes tsuid) {
  std::vector<RowWrite> writes(1);
  writes[0].row = std::move(tsuid);
  writes[0].deletes.push_back(object_column());
  co_return co_await table_->write(std::move(writes));
}

Task<std::int64_t> TsMetaStore::count(Bytes tsuid, std::int64_t points) {
  const Column column = counter_column();
  co_return co_await table_->increment(std::move(tsuid), column, points);
}

Task<void> TsMetaStore::mark(std::vector<Bytes> tsuids) {
  Bytes one;
  append_be<std::uint64_t>(one, 1);
  std::vector<RowWrite> writes;
  for (Bytes& tsuid : tsuids) {
    RowWrite write;
    write.row = std::move(tsuid);
    write.puts.push_back(CellWrite{counter_column(), one, 0});
    writes.push_back(std::move(write));
  }
  co_return co_await table_->write(std::move(writes));
}

Task<bool> TsMetaStore::has_counter(Bytes tsuid) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{std::move(tsuid), kTsMetaFamily, {counter_column().qualifier}});
  CO_TRY(const std::vector<Row> rows, co_await table_->read(std::move(reads)));
  co_return !rows.front().cells.empty();
}

}  // namespace halite::storage
