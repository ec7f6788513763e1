#include "storage/cells/estimate_by_sample.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace halite::storage {
namespace {

constexpr std::size_t kRowsMax = 32;
constexpr std::size_t kCellsMax = 65'536;  // stops reading rows after this many cells
// Bytes of a cell as sent, besides its key, qualifier and value.
constexpr std::size_t kCellBytes = 24;

// A row that may exist.
struct Candidate {
  BucketScan bucket;
  bool none = false;  // true: its time has expired
};

class Sample {
 public:
  Sample(const RowSource& source, std::shared_ptr<const RowSelection> selection, TimeRange range)
      : source_(source), selection_(std::move(selection)), range_(range) {
    if (selection_->by_tsuid()) {
      tsuids_ = selection_->tsuids();
    } else {
      const RowSelection::Known known = selection_->known();
      for (const SeriesId id : known->by_shard()) {
        tsuids_.push_back(source.registry.table().at(id).tsuid);
      }
    }
    if (range.end > range.begin) first_row_ = range.begin - range.begin % span();
    if (range.end > range.begin) {
      rows_a_series_ = static_cast<std::uint64_t>((range.end - 1 - first_row_) / span()) + 1;
    }
  }

  [[nodiscard]] ReadEstimate estimate() const {
    ReadEstimate estimate;
    estimate.series = tsuids_.size();
    if (looked_at_ == 0) return estimate;
    const double part = static_cast<double>(tsuids_.size()) * static_cast<double>(rows_a_series_) /
                        static_cast<double>(looked_at_);
    const auto of_all = [part](std::uint64_t found) {
      return static_cast<std::uint64_t>(std::llround(static_cast<double>(found) * part));
    };
    estimate.rows = of_all(rows_);
    estimate.points = of_all(points_);
    estimate.bytes = of_all(bytes_);
    return estimate;
  }

  // Reads one row, then twice as many each time, because rows may be large.
  Task<void> take() {
    const std::uint64_t all = tsuids_.size() * rows_a_series_;
    std::size_t at_once = 1;
    while (looked_at_ < std::min<std::uint64_t>(all, kRowsMax) && cells_ < kCellsMax) {
      const std::size_t left = std::min<std::uint64_t>(all, kRowsMax) - looked_at_;
      Task<void> reading = read(std::min(at_once, left), all <= kRowsMax);
      CO_TRY_VOID(co_await std::move(reading));
      at_once *= 2;
    }
    co_return Result<void>();
  }

 private:
  [[nodiscard]] std::int64_t span() const { return source_.layout.bucket_span_ms(); }

  // The next candidate of all, or a random one.
  Candidate next(bool every_one) {
    const std::size_t place = every_one ? looked_at_ : random_();
    const Bytes& tsuid = tsuids_[place % tsuids_.size()];
    const std::size_t row = (every_one ? place / tsuids_.size() : random_()) % rows_a_series_;
    const TimestampMs begin = first_row_ + static_cast<TimestampMs>(row) * span();
    const TimeRange times{std::max(range_.begin, begin), std::min(range_.end, begin + span())};
    auto buckets = source_.layout.series_buckets(tsuid, times, selection_->now());
    ++looked_at_;
    if (buckets.empty()) return {.bucket = {}, .none = true};
    return {.bucket = std::move(buckets.front())};
  }

  Task<void> read(std::size_t count, bool every_one) {
    CO_TRY_VOID(selection_->context().check());
    std::vector<BucketScan> buckets;
    std::vector<RowRead> reads;
    for (std::size_t i = 0; i < count; ++i) {
      Candidate candidate = next(every_one);
      if (candidate.none) continue;
      reads.push_back({candidate.bucket.keys.begin, source_.family, {}});
      buckets.push_back(std::move(candidate.bucket));
    }
    if (reads.empty()) co_return Result<void>();
    CO_TRY(const std::vector<Row> rows, co_await source_.table->read(std::move(reads)));
    for (std::size_t i = 0; i < rows.size(); ++i) CO_TRY_VOID(add(rows[i], buckets[i]));
    co_return Result<void>();
  }

  Result<void> add(const Row& row, const BucketScan& bucket) {
    std::vector<CellRef> cells;
    for (const Cell& cell : row.cells) {
      if (cell.qualifier < bucket.qualifier_begin) continue;
      if (!bucket.qualifier_end.empty() && cell.qualifier >= bucket.qualifier_end) continue;
      cells.push_back({cell.qualifier, cell.value, cell.time});
      bytes_ += kCellBytes + row.key.size() + cell.qualifier.size() + cell.value.size();
    }
    cells_ += row.cells.size();
    if (cells.empty()) return {};
    TRY(const RowId id, source_.layout.parse_row(row.key));
    RowPoints points;
    TRY_VOID(source_.layout.decode(id, cells, bucket.times, points));
    ++rows_;
    points_ += points.times.size();
    return {};
  }

  const RowSource& source_;
  const std::shared_ptr<const RowSelection> selection_;
  const TimeRange range_;
  std::vector<Bytes> tsuids_;
  TimestampMs first_row_ = 0;
  std::uint64_t rows_a_series_ = 0;  // at most
  std::mt19937_64 random_{1};        // a fixed seed, so that results are repeatable

  std::size_t looked_at_ = 0;  // candidates examined
  std::uint64_t rows_ = 0;     // existing rows; their contents follow
  std::uint64_t points_ = 0;
  std::uint64_t bytes_ = 0;
  std::size_t cells_ = 0;
};

}  // namespace

Task<ReadEstimate> estimate_by_sample(const RowSource& source,
                                      std::shared_ptr<const RowSelection> selection,
                                      TimeRange range) {
  if (!selection->by_tsuid()) {
    auto use = [selection] { return selection->use(); };
    SeriesLoader::LoadLimits bounds{selection->context(), std::move(use)};
    CO_TRY_VOID(co_await source.registry.loader().load_metric(
        {.metric_uid = selection->metric_uid(), .again = source.options.shared_tables},
        std::move(bounds)));
  }
  Sample sample(source, selection, range);
  CO_TRY_VOID(co_await sample.take());
  co_return sample.estimate();
}

}  // namespace halite::storage
