// What becomes of bodies and lines whose points are not written as one: some may be there.
#include "ingest/auxiliary_writer.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/metric_value.h"
#include "tests/unit/ingest/writer_fixture.h"

namespace halite::ingest {
namespace {

using test::run_task;
using testing::ElementsAre;

// Each element or line is of a series of its own; "bad" is none. Written as `outcome` says.
class SampleRound final : public AuxiliaryBatch {
 public:
  explicit SampleRound(Result<void> outcome) : outcome_(std::move(outcome)) {}

  Result<void> add_element(std::string_view element, std::uint32_t origin) override {
    add_line(element, origin);
    return {};
  }
  void add_line(std::string_view line, std::uint32_t origin) override {
    if (line.contains("bad")) {
      refuse({.reason = RefusalReason::kInvalidValue, .text = "no number"}, origin);
    } else {
      named({.metric = line.contains("new") ? "new" : "m", .tags = {{"of", std::string(line)}}},
            origin);
    }
  }
  [[nodiscard]] std::string echo(std::string_view element) const override {
    return std::string(element);
  }
  Task<std::vector<storage::Refusal>> write(
      std::vector<std::optional<storage::SeriesId>> /*ids*/) override {
    if (!outcome_) co_return std::unexpected(outcome_.error());
    co_return std::vector<storage::Refusal>();
  }

 private:
  const Result<void> outcome_;
};

struct SideFixture {
  SideFixture() : context(store, clock, options_for_known(), registry) {
    store.known_metrics = {"m"};
  }

  static IngestOptions options_for_known() {
    IngestOptions options;
    options.create.metrics = false;
    return options;
  }
  PutOutcome put(Result<void> written) {
    auto outcome = run_task(writer.put_json(std::make_unique<SampleRound>(std::move(written)),
                                            R"([{"good":1},{"bad":2},{"new":3},{"good":4}])", {}));
    EXPECT_TRUE(outcome) << outcome.error().message;
    return outcome ? *std::move(outcome) : PutOutcome{};
  }
  std::string put_lines(Result<void> written) {
    std::string replies;
    const Result<void> stored =
        run_task(writer.put_lines(std::make_unique<SampleRound>(std::move(written)),
                                  {"good 1", "bad 2", "new 3", "good 4"}, "rollup", &replies));
    EXPECT_FALSE(stored);
    return replies;
  }
  [[nodiscard]] double counted(const std::string& what, const std::string& protocol) const {
    return test::metric_value(registry, "halite_ingest_points_" + what, {{"protocol", protocol}});
  }

  test::FakePointStore store;
  FakeClock clock{1'500'000'000'000};
  prometheus::Registry registry;
  WriterContext context;
  AuxiliaryWriter writer{context};
};

std::vector<std::string> side_errors(const std::vector<PutFailure>& failures) {
  std::vector<std::string> errors;
  for (const PutFailure& failure : failures) errors.push_back(failure.error);
  return errors;
}

TEST(AuxiliaryWriter, WhatCouldNotBeWrittenMayBeStored) {
  SideFixture fixture;
  const PutOutcome outcome = fixture.put(fail(Errc::kTimeout, "late"));
  EXPECT_EQ(outcome.success, 0U);
  EXPECT_EQ(outcome.failed, 4U);
  const std::string unknown = "Storage exception: late; it may be stored or not: send it again";
  EXPECT_THAT(side_errors(outcome.failures),
              ElementsAre(unknown, "Unable to parse value to a number", "Unknown metric", unknown));
  ASSERT_TRUE(outcome.retryable_error);
  EXPECT_EQ(outcome.retryable_error->code, Errc::kUnavailable);
  EXPECT_EQ(fixture.counted("total", "http"), 2);
  EXPECT_EQ(fixture.counted("unknown_total", "http"), 2);
  EXPECT_EQ(fixture.counted("refused_total", "http"), 2);

  EXPECT_EQ(fixture.put_lines(fail(Errc::kUnavailable, "gone")),
            "rollup: invalid value: no number\n"
            "rollup: unknown metric: No such name for 'metrics': 'new'\n"
            "rollup: storage error: 2 points may not be stored: gone\n");
  EXPECT_EQ(fixture.counted("unknown_total", "telnet"), 2);
  EXPECT_EQ(fixture.counted("refused_total", "telnet"), 2);
}

TEST(AuxiliaryWriter, WithoutIdsNothingIsStored) {
  SideFixture fixture;
  fixture.store.intern_fails = error_of(Errc::kUnavailable, "gone");
  const PutOutcome outcome = fixture.put({});
  EXPECT_EQ(outcome.success, 0U);
  EXPECT_EQ(outcome.failed, 4U);
  EXPECT_THAT(side_errors(outcome.failures),
              ElementsAre("Storage exception: gone", "Unable to parse value to a number",
                          "Storage exception: gone", "Storage exception: gone"));
  EXPECT_EQ(outcome.retryable_error->message, "gone");
  EXPECT_EQ(fixture.counted("total", "http"), 0);
  EXPECT_EQ(fixture.counted("unknown_total", "http"), 0);
  EXPECT_EQ(fixture.counted("refused_total", "http"), 4);

  EXPECT_EQ(fixture.put_lines({}),
            "rollup: invalid value: no number\n"
            "rollup: storage error: 3 points not stored: gone\n");
  EXPECT_EQ(fixture.counted("refused_total", "telnet"), 4);
}

TEST(AuxiliaryWriter, WhatIsGoodIsDurable) {
  SideFixture fixture;
  const PutOutcome outcome = fixture.put({});
  EXPECT_EQ(outcome.success, 2U);
  EXPECT_EQ(outcome.failed, 2U);
  EXPECT_FALSE(outcome.retryable_error);
  EXPECT_EQ(fixture.counted("unknown_total", "http"), 0);
}

}  // namespace
}  // namespace halite::ingest
