#include "storage/meta/objects/annotation_store.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "storage/cells/layouts/annotation_cell.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/cells/layouts/values/qualifier.h"
#include "storage/meta/objects/merge_put.h"

namespace halite::storage {
namespace {

constexpr Family kAnnotationFamily = 0;
constexpr TimestampMs kTimeEnd = (TimestampMs{1} << 32) * 1000;  // the end of the times in row keys

// Selects the rows of one series.
class SeriesRows final : public RowFilter {
 public:
  SeriesRows(std::shared_ptr<const OpentsdbLayout> layout, Bytes tsuid)
      : layout_(std::move(layout)), tsuid_(std::move(tsuid)) {}
  [[nodiscard]] bool matches(BytesView row) const override {
    const Result<RowId> id = layout_->parse_row(row);
    return id && id->tsuid == tsuid_;
  }

 private:
  const std::shared_ptr<const OpentsdbLayout> layout_;
  const Bytes tsuid_;
};

Result<Annotation> parse_stored_annotation(BytesView row, const Cell& cell) {
  Result<Annotation> note = parse_annotation(cell.value);
  if (note) return note;
  return fail(Errc::kCorruption, fmt::format("the annotation in row {}, cell {}: {}", to_hex(row),
                                             to_hex(cell.qualifier), note.error().message));
}

// The rows of a metric in the hours of the range; nullopt if there can be none.
std::optional<KeyRange> metric_rows(const OpentsdbLayout& layout, BytesView metric_uid,
                                    TimeRange range, std::uint32_t salt) {
  auto buckets = layout.metric_buckets(metric_uid, range, salt, 0);
  if (buckets.empty()) return std::nullopt;
  return std::move(buckets.front().keys);
}

// Whole hours around [begin, last], limited to times that row keys can contain.
TimeRange hours(TimestampMs begin, TimestampMs last) {
  begin = std::clamp<TimestampMs>(begin, 0, kTimeEnd);
  last = std::clamp<TimestampMs>(last, 0, kTimeEnd - 1);
  return {.begin = begin - begin % kRowMs, .end = last - last % kRowMs + kRowMs};
}

}  // namespace

Error too_many_annotations(std::size_t answer_max) {
  return {.code = Errc::kTooLarge,
          .message = fmt::format("more than {} annotations in this range; ask for a shorter one or "
                                 "raise meta.annotations_max",
                                 answer_max),
          .details = {}};
}

TableSpec annotation_table_spec(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"t", 0}};
  return spec;
}

AnnotationStore::AnnotationStore(std::shared_ptr<Table> table,
                                 std::shared_ptr<const OpentsdbLayout> layout,
                                 AnnotationOptions options)
    : table_(std::move(table)), layout_(std::move(layout)), options_(options) {}

Task<std::optional<Bytes>> AnnotationStore::read(Bytes row, Bytes qualifier) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{std::move(row), kAnnotationFamily, {std::move(qualifier)}});
  CO_TRY(std::vector<Row> rows, co_await table_->read(std::move(reads)));
  if (rows.empty() || rows.front().cells.empty()) co_return std::nullopt;
  co_return std::move(rows.front().cells.front().value);
}

bool AnnotationStore::may_be_series(BytesView tsuid) const {
  return tsuid.empty() || is_tsuid_length(layout_->widths(), tsuid.size());
}

Task<std::optional<Annotation>> AnnotationStore::get(Bytes tsuid, std::int64_t start_time) {
  if (!may_be_series(tsuid)) co_return std::nullopt;
  CO_TRY(const AnnotationKey place, annotation_key(*layout_, tsuid, start_time));
  CO_TRY(std::optional<Bytes> value, co_await read(place.row, place.qualifier));
  if (!value) co_return std::nullopt;
  CO_TRY(Annotation note, parse_stored_annotation(place.row, Cell{place.qualifier, *value, 0}));
  co_return std::optional<Annotation>(std::move(note));
}

Task<Annotation> AnnotationStore::put(AnnotationEdit edit, bool replace) {
  CO_TRY(const Bytes tsuid, tsuid_bytes(edit.note.tsuid));
  if (!may_be_series(tsuid)) {
    co_return fail(Errc::kInvalidArgument,
                   fmt::format("tsuid {} has {} bytes, which matches no series", edit.note.tsuid,
                               tsuid.size()));
  }
  CO_TRY(const AnnotationKey place, annotation_key(*layout_, tsuid, edit.note.start_time));
  Annotation result;
  const auto merge = [&](const std::optional<Bytes>& stored) -> Result<std::optional<Bytes>> {
    result = edit.note;
    if (stored) {
      TRY(const Annotation before,
          parse_stored_annotation(place.row, Cell{place.qualifier, *stored, 0}));
      result = merged(edit, before, replace);
    }
    return stored_json(result);
  };
  const Column column{kAnnotationFamily, place.qualifier};
  contents_ = TableContents::kMayHave;  // set before the write
  CO_TRY_VOID(co_await merge_put(*table_, place.row, column, merge));
  co_return std::move(result);
}

Task<void> AnnotationStore::remove(Bytes tsuid, std::int64_t start_time) {
  if (!may_be_series(tsuid)) co_return Result<void>();
  CO_TRY(const AnnotationKey place, annotation_key(*layout_, tsuid, start_time));
  std::vector<RowWrite> writes(1);
  writes[0].row = place.row;
  writes[0].deletes.push_back(Column{kAnnotationFamily, place.qualifier});
  co_return co_await table_->write(std::move(writes));
}

Task<bool> AnnotationStore::known_empty() {
  if (!options_.exclusive || options_.among_points) co_return false;
  if (contents_ == TableContents::kUnknown) {
    ScanSpec spec;
    spec.family = kAnnotationFamily;
    spec.ranges.push_back(KeyRange{});
    const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
    CO_TRY(const std::vector<Row> rows, co_await scanner->next(ScanLimit{.rows_max = 1}));
    // An annotation created meanwhile has already set the state.
    TableContents unknown = TableContents::kUnknown;
    contents_.compare_exchange_strong(
        unknown, rows.empty() ? TableContents::kEmpty : TableContents::kMayHave);
  }
  co_return contents_ == TableContents::kEmpty;
}

Task<std::vector<AnnotationStore::Found>> AnnotationStore::scan(
    KeyRange rows, std::shared_ptr<const RowFilter> filter) {
  ScanSpec spec;
  spec.family = kAnnotationFamily;
  spec.ranges.push_back(std::move(rows));
  spec.qualifier_begin = Bytes(1, '\x01');
  spec.qualifier_end = Bytes(1, '\x02');
  spec.rows = std::move(filter);
  const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
  std::vector<Found> found;
  for (;;) {
    CO_TRY(std::vector<Row> batch, co_await scanner->next(ScanLimit{}));
    if (batch.empty()) co_return std::move(found);
    for (const Row& row : batch) {
      for (const Cell& cell : row.cells) {
        if (!is_annotation(cell.qualifier)) continue;
        if (found.size() >= options_.answer_max) {
          co_return std::unexpected(too_many_annotations(options_.answer_max));
        }
        CO_TRY(Annotation note, parse_stored_annotation(row.key, cell));
        found.push_back(Found{row.key, cell.qualifier, std::move(note)});
      }
    }
  }
}

Task<std::uint64_t> AnnotationStore::remove_range(Bytes tsuid, TimestampMs begin,
                                                  TimestampMs last) {
  const TimeRange range = hours(begin, last);
  std::optional<KeyRange> rows;
  std::shared_ptr<const RowFilter> filter;
  if (tsuid.empty()) {
    rows = global_annotation_rows(*layout_, range);
  } else if (is_tsuid_length(layout_->widths(), tsuid.size())) {
    const Bytes metric = tsuid.substr(0, layout_->widths().metric);
    rows = metric_rows(*layout_, metric, range, layout_->salt_of(tsuid));
    filter = std::make_shared<SeriesRows>(layout_, std::move(tsuid));
  }
  if (!rows) co_return 0;
  CO_TRY(std::vector<Found> found, co_await scan(std::move(*rows), std::move(filter)));
  co_return co_await remove(std::move(found), begin, last);
}

Task<void> AnnotationStore::remove_of_metric(Bytes metric_uid, TimeRange range,
                                             std::set<Bytes> tsuids) {
  CO_TRY(const bool empty, co_await known_empty());
  if (empty || range.begin >= range.end) co_return Result<void>();
  const TimeRange whole = hours(range.begin, range.end - 1);
  for (std::uint32_t salt = 0; salt < layout_->salt_buckets(); ++salt) {
    std::optional<KeyRange> rows = metric_rows(*layout_, metric_uid, whole, salt);
    if (!rows) break;
    CO_TRY(std::vector<Found> found, co_await scan(std::move(*rows), nullptr));
    std::erase_if(found, [&](const Found& one) {
      const Result<RowId> id = layout_->parse_row(one.row);
      return !id || !tsuids.contains(id->tsuid);
    });
    CO_TRY_VOID(co_await remove(std::move(found), range.begin, range.end - 1));
  }
  co_return Result<void>();
}

Task<std::uint64_t> AnnotationStore::remove(std::vector<Found> found, TimestampMs begin,
                                            TimestampMs last) {
  std::map<Bytes, RowWrite> writes;
  std::uint64_t count = 0;
  for (const Found& one : found) {
    const TimestampMs time = to_milliseconds(one.note.start_time);
    if (time < begin || time > last) continue;
    RowWrite& write = writes[one.row];
    write.row = one.row;
    write.deletes.push_back(Column{kAnnotationFamily, one.qualifier});
    ++count;
  }
  std::vector<RowWrite> list;
  for (auto& [row, write] : writes) list.push_back(std::move(write));
  if (!list.empty()) CO_TRY_VOID(co_await table_->write(std::move(list)));
  co_return count;
}

Task<std::vector<Annotation>> AnnotationStore::globals(std::int64_t begin, std::int64_t last) {
  const TimeRange range = hours(to_milliseconds(begin), to_milliseconds(last));
  CO_TRY(std::vector<Found> found, co_await scan(global_annotation_rows(*layout_, range), nullptr));
  std::vector<Annotation> notes;
  for (Found& one : found) {
    if (one.note.start_time < begin || one.note.end_time > last) continue;
    notes.push_back(std::move(one.note));
  }
  co_return std::move(notes);
}

Task<std::vector<SeriesAnnotations>> AnnotationStore::of_metric(Bytes metric_uid, TimeRange range) {
  std::map<Bytes, std::vector<Annotation>> by_series;
  CO_TRY(const bool empty, co_await known_empty());
  if (empty) co_return std::vector<SeriesAnnotations>();
  const TimeRange whole = hours(range.begin, range.end - 1);
  for (std::uint32_t salt = 0; salt < layout_->salt_buckets(); ++salt) {
    std::optional<KeyRange> rows = metric_rows(*layout_, metric_uid, whole, salt);
    if (!rows) break;
    CO_TRY(std::vector<Found> found, co_await scan(std::move(*rows), nullptr));
    for (Found& one : found) {
      CO_TRY(RowId id, layout_->parse_row(one.row));
      by_series[std::move(id.tsuid)].push_back(std::move(one.note));
    }
  }
  std::vector<SeriesAnnotations> list;
  for (auto& [tsuid, notes] : by_series) list.push_back(SeriesAnnotations{tsuid, std::move(notes)});
  co_return std::move(list);
}

class AnnotationStore::NotedSeries final : public SeriesIterator {
 public:
  NotedSeries(AnnotationStore& store, ScanSpec spec) : store_(store), spec_(std::move(spec)) {}

  Task<std::optional<std::vector<Bytes>>> next() override {
    if (scanner_ == nullptr) {
      CO_TRY(const bool empty, co_await store_.known_empty());
      if (empty) co_return std::nullopt;
      scanner_ = store_.table_->scan(std::move(spec_), {});
    }
    CO_TRY(const std::vector<Row> rows, co_await scanner_->next(ScanLimit{.rows_max = kWalkRows}));
    if (rows.empty()) co_return std::nullopt;
    std::vector<Bytes> series;
    for (const Row& row : rows) {
      Result<RowId> id = store_.layout_->parse_row(row.key);
      if (id) series.push_back(std::move(id->tsuid));  // otherwise a global annotation
    }
    co_return std::move(series);
  }

 private:
  static constexpr std::uint32_t kWalkRows = 4096;
  AnnotationStore& store_;
  ScanSpec spec_;
  std::unique_ptr<Scanner> scanner_;  // null before the first read
};

std::unique_ptr<SeriesIterator> AnnotationStore::series(const std::set<Bytes>& metric_uids) {
  ScanSpec spec;
  spec.family = kAnnotationFamily;
  spec.qualifier_begin = Bytes(1, '\x01');
  spec.qualifier_end = Bytes(1, '\x02');
  spec.keys_only = true;
  const TimeRange always = hours(0, kTimeEnd - 1);
  for (std::uint32_t salt = 0; salt < layout_->salt_buckets(); ++salt) {
    for (const Bytes& metric : metric_uids) {
      std::optional<KeyRange> rows = metric_rows(*layout_, metric, always, salt);
      if (rows) spec.ranges.push_back(std::move(*rows));
    }
  }
  return std::make_unique<NotedSeries>(*this, std::move(spec));
}

}  // namespace halite::storage
