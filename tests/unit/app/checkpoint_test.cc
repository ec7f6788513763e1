#include "app/bulk/checkpoint.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace halite::app {
namespace {

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    write(inputs_[0], "12345");
    write(inputs_[1], "1");
  }
  static void write(const std::string& path, std::string_view text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  [[nodiscard]] Error error() const {
    return CheckpointFile(path_, inputs_, "engine /a").read().error();
  }

  const test::TempDir place_;
  const std::string path_ = place_.path() + "/checkpoint";
  const std::vector<std::string> inputs_ = {place_.path() + "/a \"quoted\" name",
                                            place_.path() + "/b"};
  const Checkpoint checkpoint_ = {.format = ingest::Format::kVmJson,
                                  .position = {.file = 1, .offset = 5'000'000'000},
                                  .lines = 70,
                                  .totals = {.points = 6'000'000'000, .refused = 10},
                                  .errors_bytes = 512,
                                  .errors = "refused \"lines\""};
};

TEST_F(CheckpointTest, ComesBack) {
  const CheckpointFile file(path_, inputs_, "engine /a");
  EXPECT_FALSE(file.read().value().has_value());
  ASSERT_TRUE(file.write({}));
  ASSERT_TRUE(file.write(checkpoint_));
  const Checkpoint read = CheckpointFile(path_, inputs_, "engine /a").read().value().value();
  EXPECT_EQ(read.format, checkpoint_.format);
  EXPECT_EQ(read.position, checkpoint_.position);
  EXPECT_EQ(read.lines, checkpoint_.lines);
  EXPECT_EQ(read.totals.points, checkpoint_.totals.points);
  EXPECT_EQ(read.totals.refused, checkpoint_.totals.refused);
  EXPECT_EQ(read.errors_bytes, checkpoint_.errors_bytes);
  EXPECT_EQ(read.errors, checkpoint_.errors);
  ASSERT_TRUE(file.remove());
  ASSERT_TRUE(file.remove());  // it is gone
  EXPECT_FALSE(file.read().value().has_value());
}

TEST_F(CheckpointTest, IsOfItsInputsInTheirOrder) {
  ASSERT_TRUE(CheckpointFile(path_, inputs_, "engine /a").write(checkpoint_));
  const std::vector<std::vector<std::string>> others = {
      {inputs_[1], inputs_[0]}, {inputs_[0]}, {inputs_[0], inputs_[1], inputs_[1]}, {}};
  for (const auto& inputs : others) {
    const auto read = CheckpointFile(path_, inputs, "engine /a").read();
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().code, Errc::kConflict);
    EXPECT_TRUE(read.error().message.contains(path_)) << read.error().message;
  }
  write(inputs_[1], "12");  // it has grown
  EXPECT_EQ(error().code, Errc::kConflict);
  std::filesystem::remove(inputs_[1]);
  EXPECT_EQ(error().code, Errc::kConflict);
}

TEST_F(CheckpointTest, IsOfFilesThatDidNotChange) {
  ASSERT_TRUE(CheckpointFile(path_, inputs_, "engine /a").write(checkpoint_));
  const auto time = std::filesystem::last_write_time(inputs_[1]);
  std::filesystem::last_write_time(inputs_[1], time + std::chrono::milliseconds(5));
  EXPECT_EQ(error().code, Errc::kConflict);
  EXPECT_TRUE(error().message.starts_with(inputs_[1])) << error().message;
  std::filesystem::last_write_time(inputs_[1], time);
  EXPECT_TRUE(CheckpointFile(path_, inputs_, "engine /a").read());
}

TEST_F(CheckpointTest, OfAnOlderVersionSaysLess) {
  ASSERT_TRUE(CheckpointFile(path_, inputs_, "engine /a").write(checkpoint_));
  std::ifstream file(path_, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text = std::regex_replace(text, std::regex(",\"modified_ns\":[0-9]+"), "");
  text = std::regex_replace(text, std::regex(R"(,"errors":".*lines\\"")"), "");
  EXPECT_FALSE(text.contains("modified_ns"));
  EXPECT_FALSE(text.contains("\"errors\"")) << text;
  write(path_, text);
  const auto read = CheckpointFile(path_, inputs_, "engine /a").read();
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)->errors, std::nullopt);
}

TEST_F(CheckpointTest, GoesOnWithTheSameErrorsFile) {
  EXPECT_TRUE(check_errors_flag("c", std::nullopt, "a"));
  EXPECT_TRUE(check_errors_flag("c", "a", "a"));
  EXPECT_TRUE(check_errors_flag("c", "", ""));
  const auto other = check_errors_flag("c", "a", "");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::kConflict);
  EXPECT_EQ(other.error().message,
            "c: begun with --errors a, continued without --errors; give the same --errors, or "
            "remove c to begin again");
}

// A file that is not of the task must not be emptied.
TEST_F(CheckpointTest, KeepsOfTheErrorsFileWhatItHas) {
  EXPECT_EQ(errors_kept(std::optional<Checkpoint>()), std::nullopt);
  EXPECT_EQ(errors_kept(std::optional(checkpoint_)), 512U);
  Checkpoint checkpoint;
  EXPECT_EQ(errors_kept(std::optional(checkpoint)), std::nullopt);  // of an older version
  checkpoint.errors_bytes = 7;
  EXPECT_EQ(errors_kept(std::optional(checkpoint)), 7U);
  checkpoint.errors_bytes = 0;
  checkpoint.errors = "a";
  EXPECT_EQ(errors_kept(std::optional(checkpoint)), 0U);
}

TEST_F(CheckpointTest, SaysOnlyWhatUsersKnow) {
  const std::string lines = " precision 0 columns ";
  ASSERT_TRUE(CheckpointFile(path_, inputs_, "engine /a " + lines).write(checkpoint_));
  const auto target = CheckpointFile(path_, inputs_, "engine /b " + lines).read();
  EXPECT_TRUE(target.error().message.contains("into engine /a, not into engine /b;"))
      << target.error().message;
  const auto unit = CheckpointFile(path_, inputs_, "engine /a  precision 3 columns ").read();
  EXPECT_TRUE(unit.error().message.contains("another --precision")) << unit.error().message;
}

TEST_F(CheckpointTest, IsOfItsTarget) {
  ASSERT_TRUE(CheckpointFile(path_, inputs_, "engine /a").write(checkpoint_));
  const auto read = CheckpointFile(path_, inputs_, "http://b:4242").read();
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::kConflict);
  EXPECT_TRUE(read.error().message.contains("into engine /a, not into http://b:4242"))
      << read.error().message;
}

TEST_F(CheckpointTest, NamesDamage) {
  const CheckpointFile file(path_, inputs_, "engine /a");
  ASSERT_TRUE(file.write(checkpoint_));
  std::string good(file_bytes(path_), '\0');
  std::ifstream(path_, std::ios::binary).read(good.data(), static_cast<long>(good.size()));
  // Each prefix, but for the line feed at the end.
  for (std::size_t size = 0; size + 1 < good.size(); ++size) {
    write(path_, good.substr(0, size));
    EXPECT_EQ(error().code, Errc::kCorruption) << size;
  }
  const auto with = [&](std::string_view old, std::string_view replaced) {
    std::string text = good;
    const std::size_t at = text.find(old);
    EXPECT_NE(at, std::string::npos) << old;
    text.replace(at, old.size(), replaced);
    write(path_, text);
    return error();
  };
  EXPECT_EQ(with("\"format\":1", "\"format\":2").code, Errc::kCorruption);
  EXPECT_EQ(with("\"vmjson\"", "\"cobol\"").code, Errc::kCorruption);
  EXPECT_EQ(with("\"lines\":70", "\"lines\":-70").code, Errc::kCorruption);
  EXPECT_EQ(with("\"lines\":70", "\"lines\":7.5").code, Errc::kCorruption);
  EXPECT_EQ(with("\"offset\"", "\"of\"").code, Errc::kCorruption);
  EXPECT_EQ(with("\"into\"", "\"onto\"").code, Errc::kCorruption);
  EXPECT_EQ(with("\"path\"", "\"p\"").code, Errc::kCorruption);
  EXPECT_EQ(with("\"file\":1", "\"file\":3").code, Errc::kConflict);
  write(path_, "[]");
  EXPECT_TRUE(error().message.contains("remove it to begin again")) << error().message;
}

TEST_F(CheckpointTest, SaysWhyItCannotBeWritten) {
  const CheckpointFile file(place_.path() + "/none/checkpoint", inputs_, "");
  const auto written = file.write(checkpoint_);
  ASSERT_FALSE(written);
  EXPECT_TRUE(written.error().message.contains("none")) << written.error().message;
}

TEST_F(CheckpointTest, FilesThatAreOneAreFound) {
  const auto fault = [](const std::string& one, const std::string& other) {
    const Result<void> distinct = check_distinct(
        {{.flag = "--output", .path = one}, {.flag = "--errors", .path = {}}}, other);
    return distinct ? std::string() : distinct.error().message;
  };
  const std::string name = place_.path() + "/new";
  EXPECT_EQ(fault(name, name),
            "--output and --checkpoint are both " + name + "; give different files");
  EXPECT_NE(fault(name, place_.path() + "/./none/../new"), "");
  EXPECT_EQ(fault(name, name + "er"), "");
  EXPECT_EQ(fault(name + ".lock", name), "--output and the lock of --checkpoint are both " + name +
                                             ".lock; give different files");
  std::filesystem::create_symlink(inputs_[1], name);
  EXPECT_NE(fault(name, inputs_[1]), "");
  EXPECT_EQ(fault(name, inputs_[0]), "");
  EXPECT_EQ(fault("/dev/null", "/dev/null"), "");
  EXPECT_EQ(fault("", ""), "");
  EXPECT_EQ(fault("-", "-"), "");
}

TEST_F(CheckpointTest, OneTaskAtATime) {
  {
    const auto first = CheckpointLock::take(path_);
    ASSERT_TRUE(first) << first.error().message;
    const auto second = CheckpointLock::take(path_);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Errc::kConflict);
    EXPECT_TRUE(second.error().message.starts_with(path_ + ": another import, export or"));
    EXPECT_TRUE(CheckpointLock::take(path_ + "2"));
    EXPECT_TRUE(CheckpointLock::take(""));
  }
  EXPECT_TRUE(CheckpointLock::take(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".lock"));
  write(path_ + ".lock", "");  // of a task that was killed
  EXPECT_TRUE(CheckpointLock::take(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".lock"));
}

TEST_F(CheckpointTest, ALockIsNoFileOfSomebodyElse) {
  write(path_ + ".lock", "points");
  const auto refused = CheckpointLock::take(path_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, path_ +
                                         ".lock exists, and is no lock of a checkpoint: give "
                                         "another --checkpoint");
  EXPECT_EQ(std::filesystem::file_size(path_ + ".lock"), 6U);
}

TEST_F(CheckpointTest, AllNamesOfACheckpointHaveOneLock) {
  write(path_, "");
  std::filesystem::create_symlink(path_, path_ + "-link");
  const auto first = CheckpointLock::take(path_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_FALSE(CheckpointLock::take(path_ + "-link"));
}

}  // namespace
}  // namespace halite::app
