#include "app/bulk/import.h"

#include <atomic>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "common/threads/io_threads.h"
#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

using Answer = Result<ingest::Imported>;

// Keeps the texts that it was given, and answers as it is told.
class ScriptedTarget final : public ImportTarget {
 public:
  // Called for each store, in order, with the text; nothing: all lines are stored.
  std::function<std::optional<Answer>(std::string_view text)> answer;
  std::function<Result<void>()> durable;

  std::vector<std::string> stored;  // texts, in order
  std::vector<std::string> headers;
  std::atomic<int> parsing = 0;  // at this time
  std::atomic<int> parsing_max = 0;
  std::atomic<int> storing = 0;
  std::atomic<int> durable_calls = 0;
  std::chrono::milliseconds pause_asked{0};

  std::unique_ptr<ImportPart> new_part() override;
  Task<void> make_durable() override {
    ++durable_calls;
    co_return durable ? durable() : Result<void>();
  }
};

class ScriptedPart final : public ImportPart {
 public:
  explicit ScriptedPart(ScriptedTarget& target) : target_(target) {}

  std::uint64_t parse(const ingest::ImportText& text) override {
    const int now = ++target_.parsing;
    for (int max = target_.parsing_max; now > max;) {
      if (target_.parsing_max.compare_exchange_weak(max, now)) break;
    }
    text_ = text.lines;
    header_ = text.header;
    // Later blocks are parsed first where threads allow it.
    std::this_thread::sleep_for(std::chrono::microseconds(std::hash<std::string>()(text_) % 2000));
    --target_.parsing;
    const auto feeds = static_cast<std::uint64_t>(std::ranges::count(text_, '\n'));
    return feeds + (text_.empty() || text_.ends_with('\n') ? 0 : 1);
  }

  void add(const std::vector<ingest::SeriesPoints>& /*points*/) override {
    ADD_FAILURE() << "files have text";
  }

  Result<ingest::Imported> store() override {
    EXPECT_EQ(target_.storing++, 0);
    const auto answer = target_.answer ? target_.answer(text_) : std::nullopt;
    target_.stored.push_back(text_);
    target_.headers.push_back(header_);
    --target_.storing;
    if (answer) return *answer;
    return ingest::Imported{.points = static_cast<std::uint64_t>(std::ranges::count(text_, '\n')),
                            .refused = {}};
  }

  [[nodiscard]] std::chrono::milliseconds pause_asked() const override {
    return target_.pause_asked;
  }

 private:
  ScriptedTarget& target_;
  std::string text_;
  std::string header_;
};

std::unique_ptr<ImportPart> ScriptedTarget::new_part() {
  return std::make_unique<ScriptedPart>(*this);
}

class ImportTest : public ::testing::Test {
 protected:
  // Lines "FILE LINE ....".
  std::string add_file(std::size_t bytes) {
    const std::string name = std::to_string(inputs_.size());
    std::string text;
    for (std::uint64_t i = 1; text.size() < bytes; ++i) {
      std::string line = name + " " + std::to_string(i);
      line.resize(99, '.');
      text += line + "\n";
    }
    inputs_.push_back(place_.path() + "/" + name);
    std::ofstream(inputs_.back(), std::ios::binary) << text;
    return text;
  }

  [[nodiscard]] CheckpointFile checkpoints() const {
    return {place_.path() + "/checkpoint", inputs_, "the target"};
  }
  [[nodiscard]] std::optional<Checkpoint> checkpoint() const {
    return checkpoints().read().value();
  }

  Result<ImportTotals> run(unsigned threads = 4) {
    const Checkpoint before = checkpoint().value_or(Checkpoint());
    TRY(const auto reader, BlockReader::open(inputs_, before.position, header_rule_));
    TRY(const auto refused, RefusedLines::open(place_.path() + "/errors", before.errors_bytes,
                                               [](std::string_view) {}));
    Progress progress(0, true);
    const CheckpointFile file = checkpoints();
    return import_points({.reader = *reader,
                          .target = target_,
                          .refused = *refused,
                          .checkpoints = file,
                          .progress = progress,
                          .executor = io_.executors().front(),
                          .threads = threads,
                          .before = before,
                          .times = times_});
  }

  [[nodiscard]] std::string errors() const {
    std::ifstream file(place_.path() + "/errors", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string stored() const {
    std::string all;
    for (const std::string& text : target_.stored) all += text;
    return all;
  }

  const test::TempDir place_;
  std::vector<std::string> inputs_;
  HeaderRule header_rule_;
  ScriptedTarget target_;
  ImportTimes times_ = {.checkpoint_interval = std::chrono::hours(1),
                        .retry = {.total = std::chrono::minutes(1),
                                  .pause_min = std::chrono::milliseconds(1),
                                  .pause_max = std::chrono::milliseconds(4)}};
  IoThreads io_{1, "test"};
};

TEST_F(ImportTest, StoresInTheOrderOfTheText) {
  const std::string text = add_file(20 * kBlockBytes) + add_file(100) + add_file(3 * kBlockBytes);
  const auto totals = run(8);
  ASSERT_TRUE(totals) << totals.error().message;
  EXPECT_TRUE(stored() == text);
  EXPECT_EQ(totals->points, text.size() / 100);
  EXPECT_EQ(totals->refused, 0U);
  EXPECT_GT(target_.parsing_max, 1);
  EXPECT_EQ(target_.durable_calls, 1);
  EXPECT_EQ(checkpoint()->position, (InputPosition{.file = 2, .offset = file_bytes(inputs_[2])}));
  EXPECT_EQ(checkpoint()->totals.points, totals->points);
}

TEST_F(ImportTest, HasNothingToDo) {
  EXPECT_EQ(run().value().points, 0U);
  EXPECT_TRUE(target_.stored.empty());
}

TEST_F(ImportTest, NumbersRefusedLinesByFile) {
  add_file(5 * kBlockBytes);
  add_file(3 * kBlockBytes);
  std::uint64_t points = 0;
  std::uint64_t refused = 0;
  target_.answer = [&](std::string_view text) -> Answer {
    // The first line and the last one of each block, twice.
    const auto lines = static_cast<std::uint32_t>(std::ranges::count(text, '\n'));
    points += lines;
    refused += lines == 1 ? 1 : 2;
    return ingest::Imported{.points = lines,
                            .refused = {{.line = 1, .reason = "first"},
                                        {.line = 1, .reason = "again"},
                                        {.line = lines, .reason = "last"}}};
  };
  const auto totals = run();
  ASSERT_TRUE(totals) << totals.error().message;
  EXPECT_EQ(totals->points, points);
  EXPECT_EQ(totals->refused, refused);
  std::size_t rows = 0;
  std::string_view all;
  const std::string text = errors();
  for (all = text; !all.empty(); ++rows) {
    const std::string_view row = all.substr(0, all.find('\n'));
    all.remove_prefix(row.size() + 1);
    // PATH \t LINE \t reason \t FILE LINE ...
    const std::size_t one = row.find('\t');
    const std::size_t two = row.find('\t', one + 1);
    const std::size_t three = row.find('\t', two + 1);
    const std::string expected =
        std::string(row.substr(row.rfind('/', one) + 1, one).substr(0, 1)) + " " +
        std::string(row.substr(one + 1, two - one - 1)) + ".";
    EXPECT_TRUE(row.substr(three + 1).starts_with(expected)) << row;
  }
  EXPECT_EQ(rows, 3 * target_.stored.size());
}

TEST_F(ImportTest, StopsAtAnErrorAndResumes) {
  const std::string text = add_file(20 * kBlockBytes);
  int stores = 0;
  target_.answer = [&](std::string_view) -> std::optional<Answer> {
    if (++stores < 6) return std::nullopt;
    return fail(Errc::kInvalidArgument, "no more");
  };
  const auto totals = run();
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error().message, "no more");
  EXPECT_EQ(stores, 6);
  target_.stored.pop_back();
  std::string before = stored();
  EXPECT_TRUE(text.starts_with(before));
  EXPECT_EQ(checkpoint()->position.offset, before.size());
  EXPECT_EQ(checkpoint()->totals.points, before.size() / 100);
  EXPECT_EQ(checkpoint()->lines, before.size() / 100);
  target_.answer = nullptr;
  target_.stored.clear();
  const auto rest = run();
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_TRUE(before + stored() == text);
  EXPECT_EQ(rest->points, text.size() / 100);
}

TEST_F(ImportTest, LeavesNoCheckpointWithoutProgress) {
  add_file(100);
  target_.answer = [](std::string_view) -> Answer { return fail(Errc::kInvalidArgument, "no"); };
  EXPECT_FALSE(run());
  EXPECT_FALSE(checkpoint());
}

// Everything before the damage is stored, whichever thread finds it.
TEST_F(ImportTest, StoresWhatComesBeforeADamagedInput) {
  const std::string text = add_file(5 * kBlockBytes);
  inputs_.push_back(place_.path() + "/damaged.gz");
  std::ofstream(inputs_.back(), std::ios::binary)
      << std::string_view("\x1f\x8b\x08\0\0\0\0\0\0\3\xff\xff\xff", 13);
  for (int i = 0; i < 5; ++i) {
    target_.stored.clear();
    ASSERT_TRUE(checkpoints().remove());
    const auto totals = run(8);
    ASSERT_FALSE(totals);
    EXPECT_TRUE(totals.error().message.contains("damaged.gz")) << totals.error().message;
    EXPECT_TRUE(stored() == text);
    EXPECT_EQ(checkpoint()->position.offset, text.size());
  }
}

TEST_F(ImportTest, AsksABusyTargetAgain) {
  const std::string text = add_file(5 * kBlockBytes);
  int busy = 0;
  std::string tried;
  target_.answer = [&](std::string_view part) -> std::optional<Answer> {
    if (busy++ % 3 == 2) return std::nullopt;
    tried = part;
    return fail(busy % 3 == 1 ? Errc::kUnavailable : Errc::kTimeout, "busy");
  };
  const auto totals = run();
  ASSERT_TRUE(totals) << totals.error().message;
  EXPECT_EQ(totals->points, text.size() / 100);
  ASSERT_EQ(target_.stored.size() % 3, 0U);
  std::string once;
  for (std::size_t i = 0; i < target_.stored.size(); i += 3) {
    EXPECT_TRUE(target_.stored[i] == target_.stored[i + 1]);
    EXPECT_TRUE(target_.stored[i] == target_.stored[i + 2]);
    once += target_.stored[i];
  }
  EXPECT_TRUE(once == text);
}

// But no longer than is sensible.
TEST_F(ImportTest, WaitsAsLongAsTheTargetAsks) {
  add_file(100);
  times_.retry.pause_asked_max = std::chrono::milliseconds(300);
  for (const auto& [asked, wait] : {std::pair(100, 100), std::pair(100'000, 300)}) {
    target_.pause_asked = std::chrono::milliseconds(asked);
    int stores = 0;
    target_.answer = [&stores](std::string_view) -> std::optional<Answer> {
      if (++stores > 1) return std::nullopt;
      return fail(Errc::kUnavailable, "busy");
    };
    ASSERT_TRUE(checkpoints().remove());
    const auto began = std::chrono::steady_clock::now();
    const auto totals = run();
    ASSERT_TRUE(totals) << totals.error().message;
    EXPECT_EQ(stores, 2);
    const auto took = std::chrono::steady_clock::now() - began;
    EXPECT_GE(took, std::chrono::milliseconds(wait));
    EXPECT_LT(took, std::chrono::seconds(60));
  }
}

TEST_F(ImportTest, GivesUpAfterAWhile) {
  add_file(100);
  times_.retry.total = std::chrono::milliseconds(20);
  target_.answer = [](std::string_view) -> Answer { return fail(Errc::kUnavailable, "busy"); };
  const auto totals = run();
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error().code, Errc::kUnavailable);
  EXPECT_GT(target_.stored.size(), 2U);
}

// With the lines behind them, which would otherwise come before them.
TEST_F(ImportTest, SendsLinesAgainThatPass) {
  const std::string text = add_file(1000);
  int stores = 0;
  target_.answer = [&](std::string_view) -> Answer {
    ingest::Imported imported{
        .points = 8,
        .refused = {{.line = 2, .reason = "bad"}, {.line = 5, .reason = "full", .passes = true}}};
    if (++stores == 3) {
      imported.points = 9;
      imported.refused.pop_back();
    }
    return imported;
  };
  const auto totals = run();
  ASSERT_TRUE(totals) << totals.error().message;
  EXPECT_EQ(totals->points, 9U);
  EXPECT_EQ(totals->refused, 1U);
  ASSERT_EQ(target_.stored.size(), 3U);
  for (const std::string& stored : target_.stored) EXPECT_EQ(stored, text);
  EXPECT_TRUE(errors().contains("\t2\tbad\t0 2.")) << errors();
  EXPECT_FALSE(errors().contains("full")) << errors();
}

TEST_F(ImportTest, StopsIfLinesDoNotPassInTime) {
  add_file(1000);
  times_.retry.total = std::chrono::milliseconds(20);
  target_.answer = [&](std::string_view) -> Answer {
    return ingest::Imported{.points = 9,
                            .refused = {{.line = 5, .reason = "full", .passes = true}}};
  };
  const auto totals = run();
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error().code, Errc::kOverloaded);
  EXPECT_TRUE(totals.error().message.contains("full")) << totals.error().message;
  EXPECT_EQ(errors(), "");
}

TEST_F(ImportTest, RefusesALineThatIsTooLong) {
  inputs_.push_back(place_.path() + "/long");
  std::ofstream(inputs_.back(), std::ios::binary)
      << "a\nb\n"
      << std::string(kLineBytesMax + kBlockBytes + 1, 'x') << "\nc\n";
  const auto totals = run();
  ASSERT_TRUE(totals) << totals.error().message;
  EXPECT_EQ(stored(), "a\nb\nc\n");
  EXPECT_EQ(totals->refused, 1U);
  EXPECT_TRUE(errors().contains("/long\t3\tthe line has more than 67108864 bytes\txxx"))
      << errors().substr(0, 200);
}

// A checkpoint never runs ahead of what is durable, and of the file of refused lines.
TEST_F(ImportTest, WritesCheckpointsOfWhatIsDurable) {
  const std::string text = add_file(30 * kBlockBytes);
  times_.checkpoint_interval = std::chrono::milliseconds(0);
  std::atomic<std::uint64_t> bytes = 0;  // stored
  std::uint64_t durable = 0;
  std::uint64_t last = 0;
  target_.answer = [&](std::string_view part) -> std::optional<Answer> {
    bytes += part.size();
    const auto found = checkpoint();
    if (found) {
      EXPECT_GE(found->position.offset, last);
      EXPECT_EQ(found->totals.points, found->position.offset / 100);
      last = found->position.offset;
    }
    return std::nullopt;
  };
  target_.durable = [&]() -> Result<void> {
    const auto found = checkpoint();
    if (found) EXPECT_LE(found->position.offset, durable);
    durable = bytes;
    return {};
  };
  ASSERT_TRUE(run());
  EXPECT_GT(target_.durable_calls, 3);
  EXPECT_GT(last, 0U);
  EXPECT_EQ(checkpoint()->position.offset, text.size());
}

TEST_F(ImportTest, StopsWhenPointsCannotBeMadeDurable) {
  add_file(10 * kBlockBytes);
  times_.checkpoint_interval = std::chrono::milliseconds(0);
  target_.durable = []() -> Result<void> { return fail(Errc::kUnavailable, "the disk is full"); };
  const auto totals = run();
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error().message, "the disk is full");
  EXPECT_FALSE(checkpoint());
}

TEST_F(ImportTest, SaysThatTheLastCheckpointFailed) {
  add_file(10 * kBlockBytes);
  int stores = 0;
  target_.answer = [&](std::string_view) -> std::optional<Answer> {
    if (++stores < 3) return std::nullopt;
    return fail(Errc::kInvalidArgument, "no more");
  };
  target_.durable = []() -> Result<void> { return fail(Errc::kUnavailable, "the disk is full"); };
  const auto totals = run();
  ASSERT_FALSE(totals);
  EXPECT_EQ(totals.error().message, "no more; the last checkpoint failed: the disk is full");
}

// Also where a block is parsed again.
TEST_F(ImportTest, TellsLaterBlocksTheirHeader) {
  const std::string text = add_file(3 * kBlockBytes);
  header_rule_ = [](std::string_view header, std::string_view lines) {
    return std::string(header.empty() ? lines.substr(0, lines.find('\n')) : header);
  };
  int stores = 0;
  target_.answer = [&](std::string_view) -> std::optional<Answer> {
    if (++stores % 2 == 0) return std::nullopt;
    return fail(Errc::kUnavailable, "busy");
  };
  ASSERT_TRUE(run());
  ASSERT_GT(target_.headers.size(), 3U);
  EXPECT_EQ(target_.headers[1], "");
  EXPECT_EQ(target_.headers[2], text.substr(0, 99));
  EXPECT_EQ(target_.headers[3], text.substr(0, 99));
}

}  // namespace
}  // namespace halite::app
