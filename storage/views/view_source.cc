#include "storage/views/view_source.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/units.h"
#include "storage/catalog/select_series.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/views/view_cell.h"
#include "storage/views/view_totals.h"

namespace halite::storage {
namespace {

constexpr std::size_t kBlocksTogether = 256;
constexpr std::int64_t kBucketsTogether = 2048;  // of a group, computed from points

// The groups of a query as series of a table of their own, which knows only their names.
class GroupSeries {
 public:
  explicit GroupSeries(UidWidths widths) : widths_(widths), table_({}, widths) {}

  // Adds the groups that match the selection.
  Task<void> add(UidTable& uids, const RowSelection& selection, std::vector<Bytes> groups) {
    std::erase_if(groups, [this](const Bytes& group) { return ids_.contains(group); });
    std::vector<SeriesUids> parsed;
    std::vector<UidTable::UidRequest> requests;
    for (const Bytes& group : groups) {
      CO_TRY(SeriesUids series, parse_tsuid(widths_, group));
      requests.push_back({NameKind::kMetric, series.metric});
      for (const UidPair& pair : series.pairs) {
        requests.push_back({NameKind::kTagKey, pair.key});
        requests.push_back({NameKind::kTagValue, pair.value});
      }
      parsed.push_back(std::move(series));
    }
    auto naming = uids.names_of(std::move(requests));
    CO_TRY(const auto names, co_await std::move(naming));
    auto name = names.begin();
    for (std::size_t i = 0; i < groups.size(); ++i) {
      NewSeries series{
          .metric_uid = parsed[i].metric, .metric = {}, .tsuid = groups[i], .tags = {}};
      CO_TRY(const UidTable::NameMapping metric, *name++);
      series.metric = metric.name;
      for (const UidPair& pair : parsed[i].pairs) {
        CO_TRY(const UidTable::NameMapping key, *name++);
        CO_TRY(const UidTable::NameMapping value, *name++);
        series.tags.push_back(
            {.key = key.name, .value = value.name, .key_uid = pair.key, .value_uid = pair.value});
      }
      CO_TRY(const SeriesId id, table_.add(series));
      ids_[groups[i]] = selection.matches(table_.at(id)) ? std::optional(id) : std::nullopt;
    }
    co_return Result<void>{};
  }

  // nullopt: it does not match, or is not known.
  [[nodiscard]] std::optional<SeriesId> find(const Bytes& group) const {
    const auto known = ids_.find(group);
    return known == ids_.end() ? std::nullopt : known->second;
  }
  [[nodiscard]] const Series& at(SeriesId id) const { return table_.at(id); }

 private:
  const UidWidths widths_;
  SeriesTable table_;
  boost::unordered_flat_map<Bytes, std::optional<SeriesId>> ids_;
};

class ViewScan final : public BlockScan {
 public:
  ViewScan(const ViewReading& reading, GroupSeries& groups,
           std::shared_ptr<const Selection> selection, TimeRange range, TotalsRequest request)
      : reading_(reading),
        groups_(groups),
        selection_(std::move(selection)),
        rows_(as_rows(selection_)),
        metric_(reading.uids.uid_bytes(NameKind::kMetric, rows_->metric_uid())),
        range_(range),
        request_(request) {
    const std::int64_t units = kBucketsTogether * reading.view->rule.interval_ms / unit_ms();
    units_together_ = static_cast<std::size_t>(std::max<std::int64_t>(1, units));
  }

  ~ViewScan() override {
    static_cast<void>(count_bytes(-counted_bytes_));
  }  // releases: never fails

  Task<std::vector<Block>> next() override {
    if (!std::exchange(read_, true) && range_.begin < range_.end) {
      auto reading = read();
      CO_TRY_VOID(co_await std::move(reading));
      for (std::vector<SpanTotals>& totals : totals_) {
        std::ranges::sort(totals, {}, &SpanTotals::begin);
      }
    }
    std::vector<Block> blocks;
    for (; next_ < sketches_.size() && blocks.size() < kBlocksTogether; ++next_) {
      if (!sketches_[next_].empty()) blocks.push_back(sketch_block(next_));
    }
    for (; next_ < totals_.size() && blocks.size() < kBlocksTogether; ++next_) {
      if (totals_[next_].empty()) continue;
      blocks.push_back({.series = static_cast<SeriesId>(next_),
                        .times = {},
                        .values = {},
                        .floats = {},
                        .totals = std::move(totals_[next_])});
    }
    co_return blocks;
  }

 private:
  [[nodiscard]] std::int64_t unit_ms() const { return reading_.view->rule.unit_ms(); }
  // Keeps the buckets that lie in the range.
  Result<void> take(const Bytes& group, TimestampMs begin, std::span<const BucketTotals> buckets);
  Result<void> take_sketch(SeriesId id, TimestampMs begin, const BucketTotals& bucket);
  Block sketch_block(std::size_t series);
  Result<void> count_bytes(std::int64_t bytes);
  Task<void> read();
  Task<void> read_points(UnitRange units);
  Task<void> read_stored(UnitRange units, const std::vector<bool>& stored);

  const ViewReading& reading_;
  GroupSeries& groups_;
  const std::shared_ptr<const Selection> selection_;
  const std::shared_ptr<const RowSelection> rows_;
  const Bytes metric_;
  TimeRange range_;
  const TotalsRequest request_;
  std::size_t units_together_ = 0;  // read from points at once; fewer if there are many groups
  bool read_ = false;
  std::vector<std::vector<SpanTotals>> totals_;          // by series
  std::vector<std::map<TimestampMs, Sketch>> sketches_;  // by series; if not empty, no totals
  std::int64_t counted_bytes_ = 0;                       // of them, in the query's budget
  std::size_t next_ = 0;
};

Result<void> ViewScan::count_bytes(std::int64_t bytes) {
  counted_bytes_ += bytes;
  const ReadContext& context = rows_->context();
  return context.budget == nullptr ? Result<void>() : context.budget->add_bytes(bytes);
}

Result<void> ViewScan::take(const Bytes& group, TimestampMs begin,
                            std::span<const BucketTotals> buckets) {
  const std::optional<SeriesId> id = groups_.find(group);
  if (!id) return {};
  if (request_.sketches) {
    for (const BucketTotals& bucket : buckets) {
      if (bucket.any && begin >= range_.begin && begin < range_.end) {
        TRY_VOID(take_sketch(*id, begin, bucket));
      }
      begin += reading_.view->rule.interval_ms;
    }
    return {};
  }
  if (totals_.size() <= *id) totals_.resize(*id + 1);
  std::vector<SpanTotals>& totals = totals_[*id];
  const std::size_t before = totals.size();
  for (const BucketTotals& bucket : buckets) {
    if (bucket.any && begin >= range_.begin && begin < range_.end) {
      totals.push_back({.begin = begin,
                        .count = bucket.count,
                        .sum = bucket.sum,
                        .min = bucket.min,
                        .max = bucket.max});
    }
    begin += reading_.view->rule.interval_ms;
  }
  return count_bytes(static_cast<std::int64_t>((totals.size() - before) * sizeof(SpanTotals)));
}

Result<void> ViewScan::take_sketch(SeriesId id, TimestampMs begin, const BucketTotals& bucket) {
  constexpr std::size_t kEntryBytes = 96;
  if (sketches_.size() <= id) sketches_.resize(id + 1);
  if (request_.bucket_ms != 0) begin -= begin % request_.bucket_ms;
  const auto [merged, is_new] = sketches_[id].try_emplace(begin);
  const std::size_t before = is_new ? 0 : merged->second.bytes() + kEntryBytes;
  merged->second.add(bucket.sketch);
  return count_bytes(static_cast<std::int64_t>(merged->second.bytes() + kEntryBytes) -
                     static_cast<std::int64_t>(before));
}

Block ViewScan::sketch_block(std::size_t series) {
  Block block{.series = static_cast<SeriesId>(series), .times = {}, .values = {}, .floats = {}};
  for (auto& [begin, sketch] : sketches_[series]) {
    block.totals.push_back({.begin = begin, .count = sketch.count()});
    block.sketches.push_back(std::move(sketch));
  }
  sketches_[series].clear();
  return block;
}

// The last bucket may end after the range: then only its points in the range count.
Task<void> ViewScan::read() {
  const UnitRange units = {.begin = range_.begin / unit_ms(),
                           .end = (range_.end + unit_ms() - 1) / unit_ms()};
  std::vector<bool> stored = reading_.changes.built(reading_.view->id, metric_, units);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const TimestampMs begin = (units.begin + static_cast<std::int64_t>(i)) * unit_ms();
    const bool expired = begin + unit_ms() <= reading_.kept_from;
    if (begin < reading_.view_kept_from && !expired) stored[i] = false;
    if (expired) stored[i] = true;
  }
  if (range_.end % reading_.view->rule.interval_ms != 0 && range_.end > reading_.kept_from) {
    stored.back() = false;
  }
  auto reading = read_stored(units, stored);
  CO_TRY_VOID(co_await std::move(reading));
  for (std::size_t begin = 0; begin < stored.size();) {
    std::size_t end = begin;
    while (end < stored.size() && !stored[end]) ++end;
    while (begin < end) {
      const std::size_t piece = std::min(end - begin, units_together_);
      auto reading_points =
          read_points({.begin = units.begin + static_cast<std::int64_t>(begin),
                       .end = units.begin + static_cast<std::int64_t>(begin + piece)});
      const Result<void> done = co_await std::move(reading_points);
      if (!done && done.error().code == Errc::kTooLarge && piece > 1) {
        units_together_ = piece / 2;
        continue;
      }
      CO_TRY_VOID(done);
      begin += piece;
    }
    begin = end + 1;
  }
  co_return Result<void>{};
}

Task<void> ViewScan::read_stored(UnitRange units, const std::vector<bool>& stored) {
  const auto first = std::ranges::find(stored, true);
  if (first == stored.end()) co_return Result<void>{};
  const auto last = std::find(stored.rbegin(), stored.rend(), true);
  const auto day_at = [&](std::ptrdiff_t at) { return day_of((units.begin + at) * unit_ms()); };
  auto listing = reading_.table.groups(reading_.view->id, metric_);
  CO_TRY(std::vector<Bytes> groups, co_await std::move(listing));
  auto naming = groups_.add(reading_.uids, *rows_, std::move(groups));
  CO_TRY_VOID(co_await std::move(naming));
  std::vector<BucketTotals> buckets(
      static_cast<std::size_t>(unit_ms() / reading_.view->rule.interval_ms));
  const auto take_day = [&](StoredDay day) -> Result<void> {
    if (!groups_.find(day.group)) return {};
    const std::int64_t first_of_day = begin_of(day.day) / unit_ms();
    for (const auto& [number, cell] : day.units) {
      const std::int64_t unit = first_of_day + number;
      const bool wanted = unit >= units.begin && unit < units.end &&
                          stored[static_cast<std::size_t>(unit - units.begin)];
      if (!wanted) continue;
      TRY_VOID(parse_view_cell(reading_.view->rule.functions, cell, buckets));
      TRY_VOID(take(day.group, unit * unit_ms(), buckets));
    }
    return {};
  };
  auto reading = reading_.table.read_days(
      reading_.view->id, metric_, day_at(first - stored.begin()),
      day_at(static_cast<std::ptrdiff_t>(stored.size()) - 1 - (last - stored.rbegin())) + 1,
      rows_->context(), take_day);
  co_return co_await std::move(reading);
}

Task<void> ViewScan::read_points(UnitRange units) {
  const TimeRange whole = {.begin = units.begin * unit_ms(), .end = units.end * unit_ms()};
  TotalsReading totals{.points = reading_.points,
                       .selection = selection_,
                       .range = {.begin = std::max(whole.begin, range_.begin),
                                 .end = std::min(whole.end, range_.end)},
                       .wanted = {{.rule = &reading_.view->rule, .range = whole}},
                       .widths = reading_.widths,
                       .bytes_max = reading_.bytes_max};
  auto reading = read_totals(totals);
  CO_TRY(const std::vector<GroupTotals> read, co_await std::move(reading));
  std::vector<Bytes> groups;
  for (const auto& [group, buckets] : read.front().groups()) groups.push_back(group);
  auto naming = groups_.add(reading_.uids, *rows_, std::move(groups));
  CO_TRY_VOID(co_await std::move(naming));
  for (const auto& [group, buckets] : read.front().groups()) {
    CO_TRY_VOID(take(group, whole.begin, buckets));
  }
  co_return Result<void>{};
}

class ViewSource final : public BlockSource {
 public:
  explicit ViewSource(ViewReading reading)
      : reading_(std::move(reading)), groups_(reading_.widths) {}

  [[nodiscard]] const Series& series(SeriesId id) const override { return groups_.at(id); }
  [[nodiscard]] std::uint32_t shard_count() const override { return 1; }
  [[nodiscard]] std::unique_ptr<BlockScan> scan(std::shared_ptr<const Selection> selection,
                                                TimeRange range, std::uint32_t shard) override {
    return scan_totals(std::move(selection), range, shard, {});
  }
  [[nodiscard]] std::unique_ptr<BlockScan> scan_totals(std::shared_ptr<const Selection> selection,
                                                       TimeRange range, std::uint32_t,
                                                       TotalsRequest request) override {
    return std::make_unique<ViewScan>(reading_, groups_, std::move(selection), range, request);
  }

 private:
  const ViewReading reading_;
  GroupSeries groups_;
};

}  // namespace

std::unique_ptr<BlockSource> view_source(ViewReading reading) {
  return std::make_unique<ViewSource>(std::move(reading));
}

}  // namespace halite::storage
