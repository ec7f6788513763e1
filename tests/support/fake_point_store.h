// A PointStore that remembers what it was given, and does nothing else that it is not told to.
//
// For what a real store cannot be brought to do: refuse, fail, count the calls. Safe for all
// threads; reading is not offered.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/check.h"
#include "storage/api/point_store.h"
#include "storage/catalog/series_table.h"

namespace halite::test {

class FakePointStore final : public storage::PointStore {
 public:
  struct StoredPoint {
    SeriesName series;
    TimestampMs time = 0;
    ValueBits value = 0;
    std::uint8_t flags = 0;
    bool operator==(const StoredPoint&) const = default;
  };

  // What it does; change them before the calls they are for.
  std::vector<std::string> known_metrics;  // besides those it may make
  std::optional<Error> intern_fails;
  std::optional<Error> append_fails;
  std::function<std::optional<Error>(const StoredPoint&)> refuse;  // point by point
  Completion durable = Completion::done();
  Completion select_waits_for = Completion::done();

  // What was done to it.
  [[nodiscard]] std::vector<StoredPoint> points() const {
    const std::scoped_lock lock(mutex_);
    return points_;
  }
  [[nodiscard]] std::vector<StoredPoint> take_points() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(points_, {});
  }
  [[nodiscard]] std::vector<std::size_t> interned() const {  // names in each call
    const std::scoped_lock lock(mutex_);
    return interned_;
  }
  [[nodiscard]] std::size_t intern_calls() const {
    const std::scoped_lock lock(mutex_);
    return interned_.size();
  }
  [[nodiscard]] std::size_t selects() const { return selects_; }
  [[nodiscard]] std::size_t appends() const {
    const std::scoped_lock lock(mutex_);
    return appends_;
  }

  Task<storage::InternedSeries> intern(std::vector<SeriesName> names,
                                       storage::CreateNames create) override {
    const std::scoped_lock lock(mutex_);
    interned_.push_back(names.size());
    if (intern_fails) co_return std::unexpected(*intern_fails);
    std::vector<Result<storage::SeriesId>> ids;
    for (SeriesName& name : names) ids.push_back(intern_one(std::move(name), create));
    co_return storage::InternedSeries(pin_series(), std::move(ids));
  }

  [[nodiscard]] const storage::Series& series(storage::SeriesId id) const override {
    const std::scoped_lock lock(mutex_);
    return series_->at(id);
  }

  Task<storage::Accepted> append(storage::PointBatch batch) override {
    const std::scoped_lock lock(mutex_);
    ++appends_;
    if (append_fails) co_return std::unexpected(*append_fails);
    storage::Accepted accepted{.durable = durable, .refused = {}};
    for (std::size_t i = 0; i < batch.size(); ++i) {
      StoredPoint point{.series = names_[batch.series[i]],
                        .time = batch.times[i],
                        .value = batch.values[i],
                        .flags = batch.flags[i]};
      if (auto error = refuse ? refuse(point) : std::nullopt) {
        accepted.refused.push_back({.index = i, .error = *std::move(error)});
      } else {
        points_.push_back(std::move(point));
      }
    }
    co_return std::move(accepted);
  }

  Task<std::shared_ptr<const storage::Selection>> select(storage::SeriesQuery,
                                                         storage::ReadContext) override {
    ++selects_;
    CO_TRY_VOID(co_await select_waits_for.wait());
    co_return unread();
  }
  [[nodiscard]] std::uint32_t shard_count() const override { return 1; }
  [[nodiscard]] std::unique_ptr<storage::BlockScan> scan(std::shared_ptr<const storage::Selection>,
                                                         TimeRange, std::uint32_t) override {
    return nullptr;
  }
  Task<storage::PinnedSeries> lookup(std::shared_ptr<const storage::Selection>,
                                     std::size_t) override {
    co_return unread();
  }
  Task<storage::PinnedLastPoints> last(std::shared_ptr<const storage::Selection>,
                                       TimeRange) override {
    co_return unread();
  }
  Task<std::uint64_t> delete_range(std::shared_ptr<const storage::Selection>, TimeRange) override {
    co_return unread();
  }
  Task<std::vector<std::string>> suggest(storage::NameKind, std::string, std::size_t) override {
    co_return unread();
  }
  Task<void> settle() override { co_return Result<void>{}; }
  Task<void> flush() override { co_return Result<void>(); }
  Task<void> seal() override { co_return Result<void>(); }

 private:
  static std::unexpected<Error> unread() {
    return fail(Errc::kUnsupported, "this store is not read");
  }

  Result<storage::SeriesId> intern_one(SeriesName name, storage::CreateNames create) {
    if (const auto known = ids_.find(name); known != ids_.end()) return known->second;
    if (!create.metrics && std::ranges::count(known_metrics, name.metric) == 0) {
      return fail(Errc::kNotFound, "No such name for 'metrics': '" + name.metric + "'");
    }
    const auto id = static_cast<storage::SeriesId>(names_.size());
    names_.push_back(name);
    // Nobody asks for a fake's uids: each series has a metric and tags of its own.
    storage::NewSeries series;
    series.metric_uid = id;
    append_be_width(series.tsuid, id, 3);
    if (!name.tags.empty()) append_be_width(series.tsuid, id, 3);
    series.metric = names_.back().metric;
    for (const Tag& tag : names_.back().tags) {
      series.tags.push_back(
          {.key = tag.key, .value = tag.value, .key_uid = series.tags.size(), .value_uid = id});
    }
    HALITE_CHECK(series_->add(series).value() == id, "no series twice");
    ids_.emplace(std::move(name), id);
    return id;
  }

  std::atomic<std::size_t> selects_ = 0;  // begun
  mutable std::mutex mutex_;              // guards all that follows
  std::map<SeriesName, storage::SeriesId> ids_;
  std::deque<SeriesName> names_;
  // Not within this: ThreadSanitizer is not told when a std::shared_mutex ends, and would take
  // those of two stores in the same place of the stack, one after the other, for the same.
  std::unique_ptr<storage::SeriesTable> series_ =
      std::make_unique<storage::SeriesTable>(storage::SeriesLimits{.series = 100'000});
  std::vector<StoredPoint> points_;
  std::vector<std::size_t> interned_;
  std::size_t appends_ = 0;
};

}  // namespace halite::test
