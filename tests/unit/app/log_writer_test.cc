#include "app/server/log_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/logger.h>

#include "tests/support/soon.h"

namespace halite::app {
namespace {

class LogWriterTest : public testing::Test {
 public:
  ~LogWriterTest() override {
    ::close(pipe_[0]);
    if (pipe_[1] >= 0) ::close(pipe_[1]);
  }

 protected:
  static constexpr std::size_t kQueueBytes = 64 << 10;

  LogWriterTest() {
    EXPECT_EQ(::pipe2(pipe_.data(), O_CLOEXEC), 0);
    open();
  }
  void open() {
    writer_ = std::make_shared<LogWriter>(pipe_[1], kQueueBytes);
    logger_ = std::make_unique<spdlog::logger>("test", writer_);
    logger_->set_pattern("%v");
  }
  // Everything is written then.
  void close() {
    logger_.reset();
    writer_.reset();
    ::close(std::exchange(pipe_[1], -1));
  }
  [[nodiscard]] std::string read_to_end() const {
    std::string text;
    std::array<char, 4096> piece;
    for (ssize_t count = 1; count > 0;) {
      count = ::read(pipe_[0], piece.data(), piece.size());
      if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

  std::array<int, 2> pipe_{-1, -1};
  std::shared_ptr<LogWriter> writer_;
  std::unique_ptr<spdlog::logger> logger_;
};

TEST_F(LogWriterTest, WritesEverythingInOrderBeforeItIsGone) {
  std::string wanted;
  std::string found;
  std::thread reader([&] { found = read_to_end(); });
  for (int i = 0; i < 20'000; ++i) {
    if (i % 100 == 0) logger_->flush();  // so that there is room for all
    logger_->info("line {}", i);
    wanted += fmt::format("line {}\n", i);
  }
  close();
  reader.join();
  EXPECT_EQ(found, wanted);
}

// With a synchronous sink the first line that the pipe does not hold would wait for ever.
TEST_F(LogWriterTest, NobodyWaitsForAReaderThatReadsNothing) {
  const std::string text(1000, 'x');
  for (int i = 0; i < 1'000; ++i) logger_->info("{} {}", i, text);
  EXPECT_GT(writer_->dropped(), 0u);
  std::string found;
  std::thread reader([&] { found = read_to_end(); });
  logger_->flush();  // there is room again
  logger_->info("the last");
  const std::uint64_t dropped = writer_->dropped();
  close();
  reader.join();
  EXPECT_THAT(found, testing::StartsWith("0 x"));
  // The writer may have said so more than once.
  std::uint64_t noted = 0;
  std::istringstream lines(found);
  for (std::string line; std::getline(lines, line);) {
    if (line.contains(" log lines were dropped")) noted += std::stoull(line);
  }
  EXPECT_EQ(noted, dropped);
  EXPECT_THAT(found, testing::EndsWith("\nthe last\n"));
}

TEST_F(LogWriterTest, ALineOfAllTheQueueIsWrittenAndOneByteMoreIsDropped) {
  const std::size_t most =
      kQueueBytes - LogWriter::queued_bytes(spdlog::details::log_msg("", spdlog::level::info, ""));
  std::string found;
  std::thread reader([&] { found = read_to_end(); });
  logger_->info(std::string(most, 'x'));
  logger_->flush();
  logger_->info(std::string(most + 1, 'y'));
  EXPECT_EQ(writer_->dropped(), 1u);
  close();
  reader.join();
  EXPECT_EQ(found.substr(0, most + 1), std::string(most, 'x') + "\n");
  EXPECT_THAT(found, testing::HasSubstr("\n1 log lines were dropped"));
  EXPECT_THAT(found, testing::Not(testing::HasSubstr("y" + std::string(10, 'y'))));
}

TEST_F(LogWriterTest, ADescriptorThatIsGoneCountsItsLines) {
  std::signal(SIGPIPE, SIG_IGN);
  ::close(std::exchange(pipe_[0], ::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  logger_->info("nobody reads it");
  logger_->flush();
  EXPECT_TRUE(test::soon([&] { return writer_->dropped() == 1; }));
}

}  // namespace
}  // namespace halite::app
