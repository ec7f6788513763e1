#include "storage/cells/row_scan.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "storage/cells/layouts/annotation_cell.h"

namespace halite::storage {
namespace {

// After this many empty steps, seek to the next row before trying the other steps one by one.
constexpr int kEmptyStepsMax = 4;
// Row ranges that are prepared at a time for reads by key.
constexpr std::size_t kExactRanges = 4096;
// Servers seek if at most one of this many known series is selected, because seeking to a row of
// few cells costs more than testing it.
constexpr std::size_t kRowsPerJump = 8;
// Maximum buckets of a part that are scanned one by one. A filter with several ranges costs a
// server an eighth more work; a separate scan costs one more seek.
constexpr std::size_t kBucketsAlone = 32;

const Bytes& begin_of(const RowScanStep& step) { return step.spec.ranges.front().begin; }

// Merges adjacent steps that differ only in their keys into one with several ranges, unless
// `alone`.
void add_step(std::vector<RowScanStep>& steps, BucketScan bucket, Family family, bool alone) {
  if (!steps.empty() && !alone) {
    RowScanStep& last = steps.back();
    const Bytes& end = last.spec.ranges.back().end;
    if (last.spec.qualifier_begin == bucket.qualifier_begin &&
        last.spec.qualifier_end == bucket.qualifier_end && !end.empty() &&
        end <= bucket.keys.begin) {
      last.spec.ranges.push_back(std::move(bucket.keys));
      last.times.begin = std::min(last.times.begin, bucket.times.begin);
      last.times.end = std::max(last.times.end, bucket.times.end);
      return;
    }
  }
  RowScanStep step;
  step.spec.family = family;
  step.spec.ranges.push_back(std::move(bucket.keys));
  step.spec.qualifier_begin = std::move(bucket.qualifier_begin);
  step.spec.qualifier_end = std::move(bucket.qualifier_end);
  step.times = bucket.times;
  steps.push_back(std::move(step));
}

}  // namespace

std::size_t rows_in(TimeRange range, std::int64_t span_ms) {
  if (range.end <= range.begin) return 0;
  const auto length =
      static_cast<std::uint64_t>(range.end) - static_cast<std::uint64_t>(range.begin);
  return static_cast<std::size_t>(length / static_cast<std::uint64_t>(span_ms)) + 1;
}

std::vector<SeriesRange> scan_splits(const RowSource& source, const RowSelection& selection,
                                     TimeRange range, std::uint32_t shard) {
  if (!source.options.shared_tables) return std::vector<SeriesRange>(1);
  return split_scan(source.options.split, source.registry, selection,
                    rows_in(range, source.layout.bucket_span_ms()), shard,
                    source.layout.salt_buckets());
}

RowScan::RowScan(const RowSource& source, std::shared_ptr<const RowSelection> selection,
                 TimeRange range, std::uint32_t shard, const SeriesChoice& choice)
    : source_(source),
      selection_(std::move(selection)),
      range_(range),
      row_filter_(std::make_shared<SeriesRowFilter>(source.layout, source.registry, selection_,
                                                    choice.only, choice.except)) {
  plan(shard, choice);
}

void RowScan::plan(std::uint32_t shard, const SeriesChoice& choice) {
  const RowScanOptions& options = source_.options;
  const SeriesTable& table = source_.registry.table();
  std::vector<Bytes> wanted;
  std::size_t wanted_total = 0;
  std::size_t metric_total = 0;
  bool all_known = true;
  // Rows without salts are all in one shard, even if the points' rows have salts.
  const bool one_shard = source_.layout.salt_buckets() == 1;
  if (choice.only) {
    wanted_total = choice.only->size();
    metric_total = selection_->known()->metric_size();
    for (const SeriesId id : *choice.only) {
      if (one_shard || table.at(id).shard == shard) wanted.push_back(table.at(id).tsuid);
    }
  } else if (selection_->by_tsuid()) {
    for (const Bytes& tsuid : selection_->tsuids()) {
      if (source_.layout.salt_of(tsuid) == shard) wanted.push_back(tsuid);
    }
    wanted_total = selection_->tsuids().size();
    metric_total = 2 * wanted_total + 1;  // named series are read by key
  } else {
    const RowSelection::Known known = selection_->known();
    const std::span<const SeriesId> ours =
        one_shard ? std::span(known->by_shard()) : known->of_shard(shard);
    all_known = !options.shared_tables;
    if (all_known && ours.empty()) return;
    wanted_total = known->size();
    metric_total = known->metric_size();
    if (wanted_total <= options.exact_series_max) {  // otherwise the metric is scanned
      for (const SeriesId id : ours) wanted.push_back(table.at(id).tsuid);
    }
  }
  if (all_known && wanted_total == 0) return;
  const std::size_t rows = rows_in(range_, source_.layout.bucket_span_ms());
  if (all_known && wanted_total <= options.exact_series_max && wanted_total < metric_total / 2 &&
      rows <= options.exact_rows_max / wanted_total) {
    std::ranges::sort(wanted, std::greater());
    exact_ = std::move(wanted);
    return;
  }
  std::vector<BucketScan> buckets = buckets_of(shard, choice.span);
  alone_ = !is_everything(choice.span) && buckets.size() <= kBucketsAlone;
  set_steps(std::move(buckets));
  const auto hint = hint_for(wanted_total, metric_total);
  for (RowScanStep& step : steps_) {
    step.spec.rows = row_filter_;
    step.spec.hint = hint;
  }
}

std::vector<BucketScan> RowScan::buckets_of(std::uint32_t shard, const SeriesRange& span) const {
  const Bytes metric =
      source_.registry.uids().uid_bytes(NameKind::kMetric, selection_->metric_uid());
  return buckets_of_range(source_.layout, metric, span, range_, shard, selection_->now());
}

std::shared_ptr<const ScanHint> RowScan::hint_for(std::size_t wanted, std::size_t of_metric) const {
  if (!source_.options.shared_tables || selection_->by_tsuid()) return nullptr;
  const auto matchers = selection_->matchers();
  const bool named = std::ranges::any_of(
      matchers, [](const TagKeyMatcher& condition) { return condition.literals().has_value(); });
  // Keys alone restrict nothing if all series have them.
  if (!named && !selection_->tags_exactly() && wanted * 2 > of_metric) return nullptr;
  auto hint = std::make_shared<ScanHint>();
  const bool few = wanted * kRowsPerJump <= of_metric;
  add_row_pattern(source_.layout, matchers, selection_->tags_exactly(), few,
                  source_.options.patterns, *hint);
  return hint;
}

void RowScan::set_steps(std::vector<BucketScan> buckets) {
  if (!source_.qualifier_end.empty()) {
    for (BucketScan& bucket : buckets) {
      bucket.qualifier_begin = source_.qualifier_begin;
      bucket.qualifier_end = source_.qualifier_end;
    }
  }
  for (BucketScan& bucket : buckets) add_step(steps_, std::move(bucket), source_.family, alone_);
  ascending_ = std::ranges::is_sorted(steps_, {}, begin_of);
  std::ranges::reverse(steps_);
}

// The steps for the next series to read by key, bucket by bucket, so that each series stays in time
// order and adjacent rows are read together.
void RowScan::next_exact_steps() {
  std::vector<BucketScan> buckets;
  while (!exact_.empty() && buckets.size() < kExactRanges) {
    auto more = source_.layout.series_buckets(exact_.back(), range_, selection_->now());
    std::ranges::move(more, std::back_inserter(buckets));
    exact_.pop_back();
  }
  std::ranges::sort(buckets, [](const BucketScan& a, const BucketScan& b) {
    if (a.times.begin != b.times.begin) return a.times.begin < b.times.begin;
    return a.keys.begin < b.keys.begin;
  });
  set_steps(std::move(buckets));
}

std::vector<ScanSpec> RowScan::planned() {
  if (steps_.empty() && !exact_.empty()) next_exact_steps();
  std::vector<ScanSpec> specs;
  for (const RowScanStep& step : std::views::reverse(steps_)) specs.push_back(step.spec);
  return specs;
}

// A long range with few points has thousands of buckets without a row. One look at the next row of
// the table, of any metric, skips all of them.
Task<void> RowScan::skip_empty_steps() {
  ScanSpec ahead;
  ahead.family = source_.family;
  ahead.ranges.push_back(KeyRange{begin_of(steps_.back()), steps_.front().spec.ranges.back().end});
  ahead.keys_only = true;
  const std::unique_ptr<Scanner> scanner =
      source_.table->scan(std::move(ahead), selection_->context());
  CO_TRY(const std::vector<Row> rows, co_await scanner->next(ScanLimit{1, 1}));
  while (!steps_.empty()) {
    const Bytes& end = steps_.back().spec.ranges.back().end;
    if (!rows.empty() && (end.empty() || end > rows.front().key)) break;
    steps_.pop_back();
  }
  co_return Result<void>();
}

Task<bool> RowScan::next_step() {
  // In a ring the buckets may wrap to the first slot. There are not many, so none are skipped.
  if (empty_steps_ >= kEmptyStepsMax && steps_.size() > 1 && ascending_ && !alone_) {
    empty_steps_ = 0;
    CO_TRY_VOID(co_await skip_empty_steps());
  }
  while (steps_.empty()) {
    if (exact_.empty()) co_return false;
    next_exact_steps();
  }
  RowScanStep step = std::move(steps_.back());
  steps_.pop_back();
  times_ = step.times;
  scanner_ = source_.table->scan_packed(std::move(step.spec), selection_->context());
  ++empty_steps_;
  co_return true;
}

Task<std::vector<WantedRow>> RowScan::next() {
  std::vector<WantedRow> out;
  const ScanLimit limit{source_.options.rows_per_batch, source_.options.cells_per_batch};
  given_.reset();
  while (out.empty()) {
    CO_TRY_VOID(selection_->context().check());
    if (next_row_ < batch_.rows.size()) {
      out.reserve(std::min<std::size_t>(limit.rows_max, batch_.rows.size() - next_row_) + 1);
      while (next_row_ < batch_.rows.size() && out.size() < limit.rows_max) {
        CO_TRY_VOID(take(next_row_++, out));
      }
      continue;
    }
    if (scanner_ == nullptr) {
      CO_TRY(const bool more, co_await next_step());
      if (!more) break;
    }
    next_row_ = 0;
    CO_TRY(batch_, co_await scanner_->next_packed(limit));
    if (batch_.empty()) {
      scanner_.reset();
      finish_row(out);
      continue;
    }
    empty_steps_ = 0;
    CO_TRY_VOID(co_await learn());
  }
  co_return out;
}

// Looks up all series of the batch's rows that are not in memory, in one go. Drops a row with only
// annotations if its series has no names, because users may annotate any tsuid.
Task<void> RowScan::learn() {
  std::vector<Bytes> unknown;
  ids_.clear();
  for (const RowRef& row : batch_.rows) {
    RowId& id = ids_.emplace_back();
    if (open_ && open_->key == row.key) continue;
    CO_TRY(id, source_.layout.parse_row(row.key));
    if (!source_.registry.table().find(id.tsuid)) unknown.push_back(id.tsuid);
  }
  if (unknown.empty()) co_return Result<void>();
  std::ranges::sort(unknown);
  unknown.erase(std::ranges::unique(unknown).begin(), unknown.end());
  CO_TRY(const auto ids, co_await source_.registry.loader().register_stored(unknown));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i]) continue;
    if (ids[i].error().code != Errc::kNotFound) co_return std::unexpected(ids[i].error());
    for (std::size_t at = 0; at < ids_.size(); ++at) {
      RowRef& row = batch_.rows[at];
      if (ids_[at].tsuid != unknown[i]) continue;
      if (!std::ranges::all_of(batch_.cells_of(row), is_annotation, &CellRef::qualifier)) {
        co_return std::unexpected(ids[i].error());
      }
      row.end = row.begin;
    }
  }
  co_return Result<void>();
}

Result<void> RowScan::take(std::size_t at, std::vector<WantedRow>& out) {
  const RowRef& row = batch_.rows[at];
  const std::span<const CellRef> cells = batch_.cells_of(row);
  if (cells.empty() || (skipping_ && row.key == skipped_key_)) return {};
  const bool in_pieces = source_.layout.pieces_in_time_order();
  const bool may_go_on = at + 1 == batch_.rows.size();
  if (!open_ || row.key != open_->key) {
    finish_row(out);
    SeriesId series = 0;
    skipping_ = row_filter_->match(ids_[at].tsuid, series) != SeriesRowFilter::Match::kWanted;
    if (skipping_) {
      skipped_key_ = row.key;
      return {};
    }
    if (!may_go_on) {
      out.push_back({series, std::move(ids_[at]), row.key, cells, times_});
      return check_size(row.key, cells.size());
    }
    open_ = OpenRow{series, std::move(ids_[at]), Bytes(row.key), times_, true, {}, {}};
  }
  if (in_pieces) {
    // Such a row may have any number of cells.
    out.push_back({open_->series, open_->id, row.key, cells, times_, open_->first_piece, false});
    open_->first_piece = false;
    return check_size(row.key, cells.size());
  }
  for (const CellRef& cell : cells) {
    open_->cells.push_back({Bytes(cell.qualifier), Bytes(cell.value), cell.time});
  }
  return check_size(row.key, open_->cells.size());
}

Result<void> RowScan::check_size(BytesView key, std::size_t cells) const {
  if (cells <= source_.options.row_cells_max) return {};
  return fail(Errc::kTooLarge, "row " + to_hex(key) + " has more than " +
                                   std::to_string(source_.options.row_cells_max) +
                                   " cells (storage.row_cells_max)");
}

void RowScan::finish_row(std::vector<WantedRow>& out) {
  skipping_ = false;
  if (!open_) return;
  given_ = std::move(open_);
  open_.reset();
  given_->refs = as_refs(given_->cells);
  out.push_back({given_->series, given_->id, given_->key, given_->refs, given_->times,
                 given_->first_piece, true});
}

}  // namespace halite::storage
