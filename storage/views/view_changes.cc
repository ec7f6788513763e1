#include "storage/views/view_changes.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <mutex>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace halite::storage {
namespace {

constexpr std::chrono::milliseconds kPoll(2);

// Passes the day, the bit and the begin of each built unit that overlaps the times.
template <class Take>
void for_each_built(const std::map<Day, std::uint32_t>& built, TimeRange times,
                    std::int64_t unit_ms, const Take& take) {
  for (auto day = built.lower_bound(day_of(times.begin)); day != built.end(); ++day) {
    const TimestampMs begin = begin_of(day->first);
    if (begin >= times.end) return;
    for (std::uint32_t left = day->second; left != 0; left &= left - 1) {
      const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
      const TimestampMs unit = begin + bit * unit_ms;
      if (unit < times.end && unit + unit_ms > times.begin) take(day->first, bit, unit);
    }
  }
}

}  // namespace

void ViewChanges::add_view(ViewId view, std::int64_t unit_ms) {
  const std::unique_lock lock(mutex_);
  unit_ms_[view] = unit_ms;
}

void ViewChanges::add_units(const StoredUnits& stored) {
  const std::unique_lock lock(mutex_);
  MetricUnits& units = units_[{stored.metric, stored.view}];
  units.oldest = stored.oldest;
  units.oldest_known = stored.oldest.has_value();
  units.built = stored.built;
  if (stored.oldest) watch_until(begin_of(*stored.oldest));
  if (stored.built.empty()) return;
  const auto& [day, bits] = *stored.built.rbegin();
  watch_until(begin_of(day) + std::bit_width(bits) * unit_ms_.at(stored.view));
}

Task<void> ViewChanges::remove_view(ViewId view) {
  CO_TRY(const Semaphore::Permit turn, co_await turn_->enter({1, 1}));
  const std::unique_lock lock(mutex_);
  unit_ms_.erase(view);
  std::erase_if(units_, [view](const auto& entry) { return entry.first.second == view; });
  co_return Result<void>{};
}

void ViewChanges::watch_until(TimestampMs time) {
  TimestampMs known = watched_until_.load();
  while (known < time && !watched_until_.compare_exchange_weak(known, time)) {
  }
}

ViewChanges::Entered ViewChanges::enter() {
  while (true) {
    const std::uint64_t generation = generation_.load();
    std::atomic<std::int64_t>& writers = writers_[generation % 2];
    ++writers;
    if (generation_.load() == generation) return Entered(&writers);
    --writers;
  }
}

// Writers that enter after the change of generation see the units that are being built.
Task<void> ViewChanges::wait_for_writers() {
  const std::atomic<std::int64_t>& earlier = writers_[generation_.fetch_add(1) % 2];
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor);
  while (earlier.load() != 0) {
    timer.expires_after(kPoll);
    co_await timer.async_wait(boost::asio::use_awaitable);
  }
  co_return Result<void>{};
}

ViewChanges::Place ViewChanges::place_of(ViewId view, std::int64_t unit) const {
  const std::int64_t of_day = kDayMs / unit_ms_.at(view);
  return {.day = static_cast<Day>(unit / of_day), .bit = static_cast<std::uint32_t>(unit % of_day)};
}

std::pair<ViewChanges::MetricPlace, ViewChanges::MetricPlace> ViewChanges::views_of(
    const Bytes& metric) const {
  const MetricPlace begin = units_.lower_bound({metric, 0});
  MetricPlace end = begin;
  while (end != units_.end() && end->first.first == metric) ++end;
  return {begin, end};
}

bool ViewChanges::overlaps(const Building& building, const Change& change) const {
  const std::int64_t unit_ms = unit_ms_.at(building.view);
  return building.metric == change.metric && change.times.begin < building.units.end * unit_ms &&
         change.times.end > building.units.begin * unit_ms;
}

bool ViewChanges::needs_turn(const Change& change) const {
  const bool is_building =
      std::ranges::any_of(building_, [&](const Building& one) { return overlaps(one, change); });
  if (is_building) return true;
  const auto [begin, end] = views_of(change.metric);
  for (MetricPlace at = begin; at != end; ++at) {
    const MetricUnits& units = at->second;
    if (!change.deletes && units.oldest && day_of(change.times.begin) < *units.oldest) return true;
    bool any = false;
    for_each_built(units.built, change.times, unit_ms_.at(at->first.second),
                   [&any](Day, std::uint32_t, TimestampMs) { any = true; });
    if (any) return true;
  }
  return false;
}

std::vector<UnitBits> ViewChanges::clear(std::span<Change> changes) {
  std::map<std::pair<Key, Day>, std::uint32_t> cleared;
  for (Change& change : changes) {
    const auto [begin, end] = views_of(change.metric);
    for (MetricPlace at = begin; at != end; ++at) {
      for_each_built(at->second.built, change.times, unit_ms_.at(at->first.second),
                     [&](Day day, std::uint32_t bit, TimestampMs unit_begin) {
                       if (unit_begin < change.kept_from) {
                         change.in_kept = true;
                         return;
                       }
                       const auto [bits, is_new] =
                           cleared.try_emplace({at->first, day}, at->second.built.at(day));
                       bits->second &= ~(std::uint32_t{1} << bit);
                     });
    }
    for (Building& building : building_) {
      if (!overlaps(building, change)) continue;
      const std::int64_t unit_ms = unit_ms_.at(building.view);
      const std::int64_t last = (change.times.end - 1) / unit_ms;
      for (std::int64_t unit = std::max(building.units.begin, change.times.begin / unit_ms);
           unit < building.units.end && unit <= last; ++unit) {
        building.spoiled.insert(unit);
      }
    }
  }
  std::vector<UnitBits> all;
  for (const auto& [place, built] : cleared) {
    all.push_back({.view = place.first.second,
                   .metric = place.first.first,
                   .day = place.second,
                   .built = built});
  }
  return all;
}

std::vector<std::pair<ViewChanges::Key, Day>> ViewChanges::days_before_oldest(
    std::span<const Change> changes) const {
  std::map<Key, Day> days;
  for (const Change& change : changes) {
    if (change.deletes) continue;
    const Day day = day_of(change.times.begin);
    const auto [begin, end] = views_of(change.metric);
    for (MetricPlace at = begin; at != end; ++at) {
      if (!at->second.oldest || day >= *at->second.oldest) continue;
      const auto [known, is_new] = days.try_emplace(at->first, day);
      known->second = std::min(known->second, day);
    }
  }
  return {days.begin(), days.end()};
}

Task<void> ViewChanges::spoil(std::span<Change> changes) {
  {
    const std::shared_lock lock(mutex_);
    const bool any =
        std::ranges::any_of(changes, [this](const Change& change) { return needs_turn(change); });
    if (!any) co_return Result<void>{};
  }
  auto entering = turn_->enter({1, 1});
  CO_TRY(const Semaphore::Permit turn, co_await std::move(entering));
  std::vector<UnitBits> cleared;
  std::vector<std::pair<Key, Day>> earlier;
  {
    const std::unique_lock lock(mutex_);
    cleared = clear(changes);
    earlier = days_before_oldest(changes);
  }
  auto storing = store_cleared(std::move(cleared));
  CO_TRY_VOID(co_await std::move(storing));
  for (const auto& [key, day] : earlier) {
    auto moving = move_oldest(key, day);
    CO_TRY_VOID(co_await std::move(moving));
  }
  co_return Result<void>{};
}

void ViewChanges::begin(std::vector<Building> units) {
  const std::unique_lock lock(mutex_);
  building_ = std::move(units);
  for (const Building& one : building_) watch_until(one.units.end * unit_ms_.at(one.view));
}

void ViewChanges::give_up() {
  const std::unique_lock lock(mutex_);
  building_.clear();
}

std::vector<UnitBits> ViewChanges::finished() const {
  std::vector<UnitBits> all;
  for (const Building& building : building_) {
    std::map<Day, std::uint32_t> built;
    const auto known = units_.find({building.metric, building.view});
    for (std::int64_t unit = building.units.begin; unit < building.units.end; ++unit) {
      if (building.spoiled.contains(unit)) continue;
      const Place place = place_of(building.view, unit);
      const auto [day, is_new] = built.try_emplace(place.day, 0);
      if (is_new && known != units_.end()) {
        const auto before = known->second.built.find(place.day);
        if (before != known->second.built.end()) day->second = before->second;
      }
      day->second |= std::uint32_t{1} << place.bit;
    }
    for (const auto& [day, bits] : built) {
      all.push_back({.view = building.view, .metric = building.metric, .day = day, .built = bits});
    }
  }
  return all;
}

Task<void> ViewChanges::finish() {
  auto entering = turn_->enter({1, 1});
  CO_TRY(const Semaphore::Permit turn, co_await std::move(entering));
  std::vector<UnitBits> done;
  {
    // First here: if a write fails, its bits may still be stored, and writers must clear them.
    const std::unique_lock lock(mutex_);
    done = finished();
    for (const UnitBits& one : done) units_[{one.metric, one.view}].built[one.day] = one.built;
    building_.clear();
  }
  auto writing = table_.write_units(std::move(done));
  co_return co_await std::move(writing);
}

std::vector<bool> ViewChanges::built(ViewId view, const Bytes& metric, UnitRange range) const {
  std::vector<bool> all(static_cast<std::size_t>(range.end - range.begin));
  const std::shared_lock lock(mutex_);
  const auto units = units_.find({metric, view});
  if (units == units_.end()) return all;
  const std::int64_t unit_ms = unit_ms_.at(view);
  const auto set = [&](std::int64_t unit) {
    if (unit >= range.begin && unit < range.end) {
      all[static_cast<std::size_t>(unit - range.begin)] = true;
    }
  };
  if (units->second.oldest_known) {
    const std::int64_t first = begin_of(*units->second.oldest) / unit_ms;
    for (std::int64_t unit = range.begin; unit < std::min(first, range.end); ++unit) set(unit);
  }
  for_each_built(units->second.built, {.begin = range.begin * unit_ms, .end = range.end * unit_ms},
                 unit_ms, [&](Day, std::uint32_t, TimestampMs begin) { set(begin / unit_ms); });
  return all;
}

std::uint64_t ViewChanges::built_count(ViewId view) const {
  std::uint64_t count = 0;
  const std::shared_lock lock(mutex_);
  for (const auto& [key, units] : units_) {
    if (key.second != view) continue;
    for (const auto& [day, bits] : units.built) {
      count += static_cast<std::uint64_t>(std::popcount(bits));
    }
  }
  return count;
}

std::vector<Bytes> ViewChanges::metrics() const {
  std::vector<Bytes> metrics;
  const std::shared_lock lock(mutex_);
  for (const auto& [key, units] : units_) {
    if (metrics.empty() || metrics.back() != key.first) metrics.push_back(key.first);
  }
  return metrics;
}

std::optional<Day> ViewChanges::oldest(ViewId view, const Bytes& metric) const {
  const std::shared_lock lock(mutex_);
  const auto units = units_.find({metric, view});
  const bool known = units != units_.end() && units->second.oldest_known;
  return known ? units->second.oldest : std::nullopt;
}

void ViewChanges::guess_oldest(ViewId view, const Bytes& metric, Day oldest) {
  const std::unique_lock lock(mutex_);
  units_[{metric, view}].oldest = oldest;
  watch_until(begin_of(oldest));
}

Task<void> ViewChanges::confirm_oldest(ViewId view, Bytes metric, Day oldest) {
  auto entering = turn_->enter({1, 1});
  CO_TRY(const Semaphore::Permit turn, co_await std::move(entering));
  {
    const std::unique_lock lock(mutex_);
    MetricUnits& units = units_[{metric, view}];
    units.oldest = oldest = std::min(oldest, units.oldest.value_or(oldest));
    units.oldest_known = true;
  }
  auto writing = table_.write_oldest(view, metric, oldest);
  co_return co_await std::move(writing);
}

// Needs the turn.
Task<void> ViewChanges::move_oldest(Key key, Day oldest) {
  bool known = false;
  {
    const std::shared_lock lock(mutex_);
    known = units_.at(key).oldest_known;
  }
  if (known) {
    auto writing = table_.write_oldest(key.second, key.first, oldest);
    CO_TRY_VOID(co_await std::move(writing));
  }
  const std::unique_lock lock(mutex_);
  units_.at(key).oldest = oldest;
  co_return Result<void>{};
}

Task<void> ViewChanges::clear_view(ViewId view) {
  auto entering = turn_->enter({1, 1});
  CO_TRY(const Semaphore::Permit turn, co_await std::move(entering));
  std::vector<UnitBits> cleared;
  {
    const std::shared_lock lock(mutex_);
    for (const auto& [key, units] : units_) {
      if (key.second != view) continue;
      for (const auto& [day, bits] : units.built) {
        if (bits != 0) {
          cleared.push_back({.view = view, .metric = key.first, .day = day, .built = 0});
        }
      }
    }
  }
  auto storing = store_cleared(std::move(cleared));
  co_return co_await std::move(storing);
}

// Needs the turn.
Task<void> ViewChanges::store_cleared(std::vector<UnitBits> cleared) {
  auto writing = table_.write_units(cleared);
  CO_TRY_VOID(co_await std::move(writing));
  const std::unique_lock lock(mutex_);
  for (const UnitBits& one : cleared) {
    const auto units = units_.find({one.metric, one.view});
    if (units != units_.end()) units->second.built[one.day] = one.built;
  }
  co_return Result<void>{};
}

Task<void> ViewChanges::forget_days_before(ViewId view, Bytes metric, Day day) {
  auto entering = turn_->enter({1, 1});
  CO_TRY(const Semaphore::Permit turn, co_await std::move(entering));
  std::vector<UnitBits> forgotten;
  {
    const std::unique_lock lock(mutex_);
    const auto units = units_.find({metric, view});
    if (units == units_.end()) co_return Result<void>{};
    for (const auto& [known, bits] : units->second.built) {
      if (known >= day) break;
      forgotten.push_back({.view = view, .metric = metric, .day = known, .built = 0});
    }
    std::erase_if(units->second.built, [day](const auto& entry) { return entry.first < day; });
  }
  auto writing = table_.write_units(std::move(forgotten));
  co_return co_await std::move(writing);
}

}  // namespace halite::storage
