#include "app/bulk/store_target.h"

#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/clock.h"
#include "common/threads/run_here.h"

namespace halite::app {
namespace {

// Accepts all points of one series; the outcome of each write is decided later.
class LateSink final : public storage::PointSink {
 public:
  Task<storage::InternedSeries> intern(std::vector<SeriesName> names,
                                       storage::CreateNames /*create*/) override {
    std::vector<Result<storage::SeriesId>> ids(names.size(), storage::SeriesId{0});
    co_return storage::InternedSeries(pin_series(), std::move(ids));
  }
  [[nodiscard]] const storage::Series& series(storage::SeriesId /*id*/) const override {
    std::abort();  // only refusals are described
  }
  Task<storage::Accepted> append(storage::PointBatch /*batch*/) override {
    co_return storage::Accepted{.durable = writes.emplace_back(), .refused = {}};
  }

  std::vector<Completion> writes;
};

class StoreTargetTest : public ::testing::Test {
 protected:
  void store(std::string_view lines) {
    const auto part = target_.new_part();
    EXPECT_EQ(part->parse({.lines = lines, .header = {}}), 1U);
    const auto imported = part->store();
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_EQ(imported->points, 1U);
  }

  SystemClock clock_;
  prometheus::Registry registry_;
  LateSink sink_;
  ingest::Writer writer_{sink_, clock_, {}, registry_};
  int flushes_ = 0;
  StoreTarget target_{writer_, {}, [this]() -> Task<void> {
                        ++flushes_;
                        co_return Result<void>();
                      }};
};

TEST_F(StoreTargetTest, IsDurableOnceEachWriteIs) {
  store("m 1600000000 1 a=b\n");
  store("m 1600000010 2 a=b\n");
  ASSERT_EQ(sink_.writes.size(), 2U);
  for (const Completion& write : sink_.writes) write.finish({});
  EXPECT_TRUE(run_here(target_.make_durable()));
  EXPECT_EQ(flushes_, 1);
}

TEST_F(StoreTargetTest, IsNotDurableIfAWriteFailedAfterItWasAccepted) {
  store("m 1600000000 1 a=b\n");
  store("m 1600000010 2 a=b\n");
  ASSERT_EQ(sink_.writes.size(), 2U);
  sink_.writes[0].finish(fail(Errc::kUnavailable, "the region is gone"));
  sink_.writes[1].finish({});
  const auto durable = run_here(target_.make_durable());
  ASSERT_FALSE(durable);
  EXPECT_EQ(durable.error().message, "the region is gone");
}

}  // namespace
}  // namespace halite::app
