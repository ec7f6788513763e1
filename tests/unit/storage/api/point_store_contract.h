// What every point store must do, run over each kind in point_store_contract.cc.
//
// A new store joins by one more PointStoreKind.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

#include "storage/api/point_store.h"
#include "tests/support/run_task.h"

namespace halite::storage {

// Moves on by a millisecond each time somebody looks.
class TickingClock final : public Clock {
 public:
  explicit TickingClock(TimestampMs now_ms) : now_ms_(now_ms) {}
  [[nodiscard]] TimestampMs now_ms() const override { return ++now_ms_; }

 private:
  mutable std::atomic<TimestampMs> now_ms_;
};

class PointStoreUnderTest {
 public:
  virtual ~PointStoreUnderTest() = default;
  virtual PointStore& get() = 0;
  // As a restart: everything in memory is lost, except what a memory store keeps by its nature.
  virtual void reopen() = 0;
  // From now on no point can be made durable, or they can again. False: this one cannot be broken.
  virtual bool break_writes(bool broken) = 0;
};

struct PointStoreKind {
  std::string name;
  bool synced = false;  // writes wait for a disk: random tests take fewer steps
  std::function<std::unique_ptr<PointStoreUnderTest>(const Clock&, boost::asio::any_io_executor)>
      make;
};

inline void PrintTo(const PointStoreKind& kind, std::ostream* out) { *out << kind.name; }

[[nodiscard]] const std::vector<PointStoreKind>& point_store_kinds();

struct StoredPoint {
  ValueBits value = 0;
  bool is_float = false;
  bool operator==(const StoredPoint&) const = default;
};
inline void PrintTo(const StoredPoint& point, std::ostream* out) {
  *out << (point.is_float ? "float " : "integer ") << std::hex << point.value << std::dec;
}
using SeriesPoints = std::map<TimestampMs, StoredPoint>;
using Points = std::map<SeriesName, SeriesPoints>;  // with an entry for every series seen

[[nodiscard]] SeriesName name_of(const Series& series);
// "m host=a dc=b"
[[nodiscard]] SeriesName parse_series(const std::string& text);

class PointStoreContract : public testing::TestWithParam<PointStoreKind> {
 protected:
  static constexpr TimestampMs kNow = 1'700'000'000'000;
  static constexpr TimestampMs kHour = 3'600'000;
  // Points of most tests lie around here: an hour's begin that is a day's, too.
  static constexpr TimestampMs kBase = kNow - kNow % 86'400'000;

  template <class T>
  Result<T> run(Task<T> task) {
    return test::run_task(std::move(task));
  }

  PointStore& store() { return subject_->get(); }
  void reopen() { subject_->reopen(); }

  std::vector<SeriesId> intern_all(const std::vector<std::string>& names);
  SeriesId intern(const std::string& name) { return intern_all({name}).front(); }

  // Takes the batch and waits until it is durable; no point may be refused.
  void put(PointBatch batch);
  void put(SeriesId id, TimestampMs time, double value);
  void put_integer(SeriesId id, TimestampMs time, std::int64_t value);

  std::shared_ptr<const Selection> select(const std::string& metric,
                                          std::vector<TagFilter> filters = {},
                                          bool explicit_tags = false);
  // All shards' points; checks what every answer of scan() must hold.
  Points scan(const std::shared_ptr<const Selection>& selection, TimeRange range);
  // The series' names without their points, as "host=a dc=b" texts in order.
  std::vector<std::string> tags_found(const std::shared_ptr<const Selection>& selection,
                                      TimeRange range);

  TickingClock clock_{kNow};
  boost::asio::thread_pool background_{2};
  std::unique_ptr<PointStoreUnderTest> subject_ =
      GetParam().make(clock_, background_.get_executor());
};

}  // namespace halite::storage
