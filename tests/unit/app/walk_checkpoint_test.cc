#include "app/bulk/walk_checkpoint.h"

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

class WalkCheckpointTest : public ::testing::Test {
 protected:
  void write(std::string_view text) const { std::ofstream(path_, std::ios::binary) << text; }
  [[nodiscard]] std::string text() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] Errc code() const {
    const auto read = begin_walk(path_, state_.task, true);
    EXPECT_FALSE(read);
    return read ? Errc::kInternal : read.error().code;
  }

  const test::TempDir place_;
  const std::string path_ = place_.path() + "/checkpoint";
  const WalkState state_ = {.task = "export of \"a\" to b",
                            .position = {.metric = "sys.cpu", .time = 1'356'998'400'001},
                            .totals = {.points = 6'000'000'000, .refused = 3},
                            .output_bytes = 5'000'000'000,
                            .errors_bytes = 77,
                            .errors = ""};
};

TEST_F(WalkCheckpointTest, ComesBack) {
  EXPECT_FALSE(begin_walk(path_, state_.task, true).value().has_value());
  ASSERT_TRUE(write_walk_state(path_, {}));
  ASSERT_TRUE(write_walk_state(path_, state_));
  const WalkState read = begin_walk(path_, state_.task, true).value().value();
  EXPECT_EQ(read.task, state_.task);
  EXPECT_EQ(read.position.metric, state_.position.metric);
  EXPECT_EQ(read.position.time, state_.position.time);
  EXPECT_EQ(read.totals.points, state_.totals.points);
  EXPECT_EQ(read.totals.refused, state_.totals.refused);
  EXPECT_EQ(read.output_bytes, state_.output_bytes);
  EXPECT_EQ(read.errors_bytes, state_.errors_bytes);
  EXPECT_EQ(read.errors, state_.errors);
  ASSERT_TRUE(remove_checkpoint(path_));
  ASSERT_TRUE(remove_checkpoint(path_));  // it is gone
  EXPECT_FALSE(begin_walk(path_, state_.task, true).value().has_value());
}

TEST_F(WalkCheckpointTest, IsOfItsTask) {
  ASSERT_TRUE(write_walk_state(path_, state_));
  const auto read = begin_walk(path_, "export of c to b", true);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::kConflict);
  for (const std::string& said : {path_, state_.task, std::string("export of c to b")}) {
    EXPECT_TRUE(read.error().message.contains(said)) << read.error().message;
  }
}

TEST_F(WalkCheckpointTest, NamesDamage) {
  ASSERT_TRUE(write_walk_state(path_, state_));
  const std::string good = text();
  for (std::size_t size = 0; size + 1 < good.size(); ++size) {
    write(good.substr(0, size));
    EXPECT_EQ(code(), Errc::kCorruption) << size;
  }
  const auto with = [&](std::string_view old, std::string_view replaced) {
    std::string changed = good;
    const std::size_t at = changed.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    changed.replace(at, old.size(), replaced);
    write(changed);
    return code();
  };
  EXPECT_EQ(with("\"format\":1", "\"format\":2"), Errc::kCorruption);
  EXPECT_EQ(with("\"refused\":3", "\"refused\":-3"), Errc::kCorruption);
  EXPECT_EQ(with("\"refused\":3", "\"refused\":3.5"), Errc::kCorruption);
  EXPECT_EQ(with("\"metric\":\"sys.cpu\"", "\"metric\":5"), Errc::kCorruption);
  EXPECT_EQ(with("\"output_bytes\"", "\"output\""), Errc::kCorruption);
  write("[]");
  EXPECT_EQ(code(), Errc::kCorruption);
}

TEST_F(WalkCheckpointTest, SaysWhyItCannotBeWritten) {
  const auto written = write_walk_state(place_.path() + "/none/checkpoint", state_);
  ASSERT_FALSE(written);
  EXPECT_TRUE(written.error().message.contains("none")) << written.error().message;
}

}  // namespace
}  // namespace halite::app
