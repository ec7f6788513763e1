#include "app/bulk/import.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_future.hpp>
#include <fmt/format.h>

#include "common/threads/thread_name.h"

namespace halite::app {
namespace {

using std::chrono::steady_clock;

// The lines of a text with these numbers, which count from 1.
std::vector<std::string_view> lines_of(std::string_view text,
                                       const std::vector<ingest::RefusedLine>& wanted) {
  std::vector<std::string_view> lines;
  std::uint32_t line = 1;
  for (const ingest::RefusedLine& refused : wanted) {
    for (; line < refused.line; ++line) {
      text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
    }
    lines.push_back(text.substr(0, text.find('\n')));
  }
  return lines;
}

ingest::ImportText text_of(const TextBlock& block) {
  return {.lines = block.text, .header = block.header, .ends = block.ends};
}

class Import {
 public:
  explicit Import(const ImportJob& job) : job_(job), done_(job.before) {}

  Result<ImportTotals> run();

 private:
  void work();
  // Blocks follow each other: only one thread at a time is between these two.
  [[nodiscard]] bool wait_for_turn(std::uint64_t block);
  void end_turn();
  void stop(Error why);

  // All of these are called in turn.
  Result<void> store(const TextBlock& block, std::uint64_t lines, std::unique_ptr<ImportPart> part);
  Result<void> report(const TextBlock& block, const std::vector<ingest::RefusedLine>& refused,
                      Checkpoint& after);
  void keep_rate();
  Result<void> checkpoint_if_due();
  Result<void> begin_checkpoint();
  Result<void> end_checkpoint();

  struct Pending {
    Checkpoint checkpoint;
    std::future<Result<void>> durable;
  };

  const ImportJob& job_;
  const steady_clock::time_point began_ = steady_clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t turn_ = 0;          // the block that may be stored; guarded by mutex_
  std::optional<Error> error_;      // guarded by mutex_
  Checkpoint done_;                 // what is stored; by the thread whose turn it is
  std::optional<Pending> pending_;  // likewise
  steady_clock::time_point last_ = steady_clock::now();  // of the last checkpoint; likewise
};

Result<ImportTotals> Import::run() {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1U, job_.threads); ++i) {
    threads.emplace_back([this] {
      name_this_thread("import");
      work();
    });
  }
  for (std::thread& thread : threads) thread.join();
  Result<void> checkpointed;
  if (pending_) checkpointed = end_checkpoint();
  // Also after an error: then --resume does not read stored lines again.
  if (checkpointed && (!error_ || done_.position != job_.before.position)) {
    checkpointed = begin_checkpoint();
    if (checkpointed) checkpointed = end_checkpoint();
  }
  if (error_) {
    if (!checkpointed && checkpointed.error().message != error_->message) {
      error_->message +=
          fmt::format("; the last checkpoint failed: {}", checkpointed.error().message);
    }
    return std::unexpected(*error_);
  }
  TRY_VOID(checkpointed);
  return done_.totals;
}

void Import::work() {
  std::string buffer;
  while (true) {
    Result<std::optional<TextBlock>> block = job_.reader.next(std::move(buffer));
    if (!block) {
      // The blocks before the error are stored first.
      if (wait_for_turn(job_.reader.blocks())) stop(std::move(block).error());
      return;
    }
    if (!*block) return;
    auto part = job_.target.new_part();
    const std::uint64_t lines = (*block)->too_long ? 1 : part->parse(text_of(**block));
    if (!wait_for_turn((*block)->number)) return;
    const Result<void> stored = store(**block, lines, std::move(part));
    if (!stored) return stop(stored.error());
    end_turn();
    buffer = std::move((*block)->text);
  }
}

bool Import::wait_for_turn(std::uint64_t block) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this, block] { return error_ || turn_ == block; });
  return !error_;
}

void Import::end_turn() {
  {
    const std::lock_guard lock(mutex_);
    ++turn_;
  }
  changed_.notify_all();
}

void Import::stop(Error why) {
  {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(why);
  }
  changed_.notify_all();
}

Result<void> Import::store(const TextBlock& block, std::uint64_t lines,
                           std::unique_ptr<ImportPart> part) {
  Checkpoint after = done_;
  if (block.begin.offset == 0) after.lines = 0;
  if (block.too_long) {
    ++after.totals.refused;
    TRY_VOID(job_.refused.add(job_.reader.files()[block.begin.file], after.lines + 1,
                              fmt::format("the line has more than {} bytes", kLineBytesMax),
                              block.text));
  } else {
    const auto again = [this, &block] {
      auto same = job_.target.new_part();
      same->parse(text_of(block));
      return same;
    };
    TRY(const ingest::Imported imported, store_patiently(std::move(part), again, job_.times.retry));
    after.totals.points += imported.points;
    TRY_VOID(report(block, imported.refused, after));
  }
  after.lines += lines;
  if (!block.ignored.empty()) {
    ++after.totals.refused;
    TRY_VOID(job_.refused.add(job_.reader.files()[block.begin.file], after.lines + 1, block.ignored,
                              ""));
  }
  after.position = block.end;
  done_ = after;
  job_.progress.set(job_.reader.bytes_read(), done_.totals);
  keep_rate();
  return checkpoint_if_due();
}

void Import::keep_rate() {
  if (job_.points_per_s_max == 0) return;
  const auto points = static_cast<double>(done_.totals.points - job_.before.totals.points);
  const std::chrono::duration<double> due(points / static_cast<double>(job_.points_per_s_max));
  std::this_thread::sleep_until(began_ + std::chrono::duration_cast<steady_clock::duration>(due));
}

Result<void> Import::report(const TextBlock& block, const std::vector<ingest::RefusedLine>& refused,
                            Checkpoint& after) {
  const std::vector<std::string_view> lines = lines_of(block.text, refused);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    TRY_VOID(job_.refused.add(job_.reader.files()[block.begin.file], after.lines + refused[i].line,
                              refused[i].reason, lines[i]));
    if (i == 0 || refused[i].line != refused[i - 1].line) ++after.totals.refused;
  }
  return {};
}

// The target works on a checkpoint while the import goes on.
Result<void> Import::checkpoint_if_due() {
  if (pending_) {
    if (pending_->durable.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return {};
    TRY_VOID(end_checkpoint());
  }
  if (steady_clock::now() - last_ < job_.times.checkpoint_interval) return {};
  return begin_checkpoint();
}

Result<void> Import::begin_checkpoint() {
  TRY(done_.errors_bytes, job_.refused.sync());
  pending_.emplace(
      Pending{.checkpoint = done_,
              .durable = boost::asio::co_spawn(job_.executor, job_.target.make_durable(),
                                               boost::asio::use_future)});
  return {};
}

Result<void> Import::end_checkpoint() {
  Pending pending = std::move(*pending_);
  pending_.reset();
  last_ = steady_clock::now();
  TRY_VOID(pending.durable.get());
  const ImportTarget::LateRefusals late = job_.target.take_late_refusals();
  if (late.points > 0) {
    for (ImportTotals* const totals : {&done_.totals, &pending.checkpoint.totals}) {
      totals->points -= std::min(totals->points, late.points);
      totals->refused += late.points;
    }
    TRY_VOID(job_.refused.add("points refused by the table", late.points, late.reason, ""));
    TRY(pending.checkpoint.errors_bytes, job_.refused.sync());
  }
  return job_.checkpoints.write(pending.checkpoint);
}

}  // namespace

Result<ImportTotals> import_points(const ImportJob& job) { return Import(job).run(); }

}  // namespace halite::app
