// The bits of units: whether their stored totals are those of their points.
//
// A change of points first clears the bits of its units, durably, so that a crash cannot lose it:
//
//   writer   enter(), spoil() the times to change, change the points, leave
//   builder  begin() units, wait_for_writers(), read the points, write the totals, finish()
//
// A writer that entered before begin() has left before the builder reads; a later one finds the
// units in spoil(), and finish() does not set their bits.
//
//   Threads  call from any thread; there is one builder at a time.
//
// Over 140 lines because the steps of writers and of the builder are one protocol.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <shared_mutex>
#include <span>
#include <utility>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/threads/semaphore.h"
#include "common/threads/task.h"
#include "storage/views/view_table.h"

namespace halite::storage {

// Units of one metric in one view, as multiples of their length since 1970.
struct UnitRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;  // exclusive
};

class ViewChanges {
 public:
  // The table must outlive it.
  explicit ViewChanges(ViewTable& table) : table_(table) {}

  // Before other calls that name the view.
  void add_view(ViewId view, std::int64_t unit_ms);
  // Its built units in the table; before writers and the builder come.
  void add_units(const StoredUnits& units);
  // Afterwards the view has no units, and nothing is written for it. The builder must not build it
  // then.
  Task<void> remove_view(ViewId view);

  // A writer between enter() and the destructor.
  class Entered {
   public:
    Entered() = default;  // of no writer
    Entered(Entered&& other) noexcept : writers_(std::exchange(other.writers_, nullptr)) {}
    Entered& operator=(Entered&& other) noexcept {
      std::swap(writers_, other.writers_);
      return *this;
    }
    ~Entered() {
      if (writers_ != nullptr) --*writers_;
    }

   private:
    friend class ViewChanges;
    explicit Entered(std::atomic<std::int64_t>* writers) : writers_(writers) {}
    std::atomic<std::int64_t>* writers_ = nullptr;
  };
  [[nodiscard]] Entered enter();

  // Changes at this time or later need no spoil().
  [[nodiscard]] TimestampMs watched_until() const { return watched_until_.load(); }

  // Times of a metric that will change. Units that begin before `kept_from` stay as they are,
  // because some of their points have expired.
  struct Change {
    Bytes metric;  // uid
    TimeRange times;
    TimestampMs kept_from = 0;
    bool deletes = false;  // points only go
    bool in_kept = false;  // set by spoil(): a built unit stays as it is
  };
  // Clears the bits of these units. They are durable when it returns.
  Task<void> spoil(std::span<Change> changes);

  // The builder. finish() sets the bits of those units that no writer spoiled. After an error, or
  // instead of it: give_up().
  struct Building {
    ViewId view = 0;
    Bytes metric;  // uid
    UnitRange units;
    std::set<std::int64_t> spoiled = {};
  };
  void begin(std::vector<Building> units);
  Task<void> wait_for_writers();
  Task<void> finish();
  void give_up();

  // Whether each of these units is built, in order. Units before the oldest day have no points, so
  // they are.
  [[nodiscard]] std::vector<bool> built(ViewId view, const Bytes& metric, UnitRange units) const;
  [[nodiscard]] std::uint64_t built_count(ViewId view) const;
  // The metrics (uids) with built units or a known oldest day, in order.
  [[nodiscard]] std::vector<Bytes> metrics() const;

  // No points are older than this day; nullopt: not known. Writers of older points move it. To make
  // it known: guess_oldest(), wait_for_writers(), look at older points, confirm_oldest() with the
  // oldest of them.
  [[nodiscard]] std::optional<Day> oldest(ViewId view, const Bytes& metric) const;
  void guess_oldest(ViewId view, const Bytes& metric, Day oldest);
  Task<void> confirm_oldest(ViewId view, Bytes metric, Day oldest);

  // Afterwards no unit of the view is built.
  Task<void> clear_view(ViewId view);
  // Afterwards no unit of days before this one is built.
  Task<void> forget_days_before(ViewId view, Bytes metric, Day day);

 private:
  struct MetricUnits {
    std::optional<Day> oldest;
    bool oldest_known = false;  // otherwise it is a guess
    std::map<Day, std::uint32_t> built;
  };
  using Key = std::pair<Bytes, ViewId>;  // metric uid, view
  struct Place {
    Day day = 0;
    std::uint32_t bit = 0;
  };

  [[nodiscard]] Place place_of(ViewId view, std::int64_t unit) const;
  void watch_until(TimestampMs time);
  // These need mutex_.
  using MetricPlace = std::map<Key, MetricUnits>::const_iterator;
  [[nodiscard]] std::pair<MetricPlace, MetricPlace> views_of(const Bytes& metric) const;
  [[nodiscard]] bool overlaps(const Building& building, const Change& change) const;
  [[nodiscard]] bool needs_turn(const Change& change) const;
  // The new bits of all days that the changes touch. Marks what is being built as spoiled, and sets
  // `in_kept`.
  [[nodiscard]] std::vector<UnitBits> clear(std::span<Change> changes);
  [[nodiscard]] std::vector<UnitBits> finished() const;
  // The metrics whose oldest day moves.
  [[nodiscard]] std::vector<std::pair<Key, Day>> days_before_oldest(
      std::span<const Change> changes) const;
  Task<void> move_oldest(Key key, Day oldest);
  Task<void> store_cleared(std::vector<UnitBits> cleared);

  ViewTable& table_;
  const std::shared_ptr<Semaphore> turn_ = std::make_shared<Semaphore>(SemaphoreLoad{1, 1});
  std::atomic<std::uint64_t> generation_ = 0;
  std::array<std::atomic<std::int64_t>, 2> writers_ = {};  // by parity of the generation
  std::atomic<TimestampMs> watched_until_ = 0;

  mutable std::shared_mutex mutex_;  // guards the rest
  std::map<ViewId, std::int64_t> unit_ms_;
  std::map<Key, MetricUnits> units_;
  std::vector<Building> building_;
};

}  // namespace halite::storage
