#include "storage/backends/hbase/bulk_load/bulk_load.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "common/gather.h"
#include "common/log.h"
#include "storage/api/scan.h"

namespace halite::storage::hbase {
namespace {

namespace asio = boost::asio;

using Places = std::vector<std::size_t>;  // of files in BulkLoad::files

// One bulk load, with its staging directory.
class Loading {
 public:
  Loading(Client& client, LoadDirectory& directory, const BulkLoad& load, std::string staging)
      : client_(client),
        directory_(directory),
        load_(load),
        staging_(std::move(staging)),
        outcomes_(load.files.size(), LoadedFile::kLoaded) {}

  Task<std::vector<LoadedFile>> run() {
    Places left(load_.files.size());
    for (std::size_t i = 0; i < left.size(); ++i) left[i] = i;
    asio::steady_timer timer(co_await asio::this_coro::executor);
    for (std::uint32_t round = 1; !left.empty(); ++round) {
      CO_TRY(const std::vector<Places> calls, co_await plan(std::move(left)));
      std::vector<Task<Places>> tasks;
      for (const Places& files : calls) tasks.push_back(load_group(files));
      std::vector<Result<Places>> results =
          co_await gather(std::move(tasks), load_.options.calls_at_once);
      left.clear();
      for (const Result<Places>& result : results) {
        CO_TRY_VOID(result);
        left.insert(left.end(), result->begin(), result->end());
      }
      if (left.empty()) break;
      if (round >= load_.options.rounds_max) {
        co_return fail(Errc::kUnavailable,
                       fmt::format("HBase's server {} did not take {} in {} attempts; its log has "
                                   "the reason",
                                   refused_by_, load_.files[left.front()].path, round));
      }
      timer.expires_after(std::chrono::milliseconds(std::uint64_t{load_.options.pause_ms} * round));
      co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    co_return std::move(outcomes_);
  }

 private:
  // Groups by the regions of now. Files of several regions are done.
  Task<std::vector<Places>> plan(Places files) {
    CO_TRY(const std::vector<KeyRange> regions, co_await client_.region_ranges(load_.table));
    std::map<std::size_t, Places> by_region;
    for (const std::size_t i : files) {
      const FileToLoad& file = load_.files[i];
      const auto after = std::ranges::upper_bound(regions, file.first_row, {}, &KeyRange::begin);
      const auto at = static_cast<std::size_t>(after - regions.begin());
      const bool inside =
          at > 0 && (regions[at - 1].end.empty() || file.last_row < regions[at - 1].end);
      if (inside) {
        by_region[at - 1].push_back(i);
      } else {
        outcomes_[i] = LoadedFile::kSeveralRegions;
      }
    }
    std::vector<Places> calls;
    const std::size_t most = std::max<std::size_t>(1, load_.options.files_per_call_max);
    for (const auto& [region, all] : by_region) {
      for (std::size_t begin = 0; begin < all.size(); begin += most) {
        const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
        calls.emplace_back(from,
                           from + static_cast<std::ptrdiff_t>(std::min(most, all.size() - begin)));
      }
    }
    co_return calls;
  }

  // One call; returns the files that remain to be loaded.
  Task<Places> load_group(Places files) {
    BulkLoadCall call{.table = load_.table,
                      .first_row = load_.files[files.front()].first_row,
                      .last_row = load_.files[files.front()].last_row,
                      .files = {},
                      .staging = staging_};
    for (const std::size_t i : files) {
      const FileToLoad& file = load_.files[i];
      call.first_row = std::min(call.first_row, file.first_row);
      call.last_row = std::max(call.last_row, file.last_row);
      call.files.push_back({.family = load_.family, .path = directory_.url_of(file.path)});
    }
    CO_TRY(const BulkLoadAnswer answer, co_await client_.bulk_load(std::move(call)));
    if (answer.outcome == BulkLoadOutcome::kLoaded) co_return Places();
    // The region was split since the plan.
    if (answer.outcome == BulkLoadOutcome::kSeveralRegions) co_return files;
    note_refusal(answer);
    Places left;
    for (const std::size_t i : files) {
      CO_TRY(const bool waits, co_await take_back(load_.files[i].path));
      if (waits) left.push_back(i);
    }
    co_return left;
  }

  void note_refusal(const BulkLoadAnswer& answer) {
    const std::lock_guard lock(mutex_);
    refused_by_ = answer.server;
  }

  // Whether the file is still to be loaded. Moves it from the staging directory to its place. It is
  // loaded if it is in neither: while the server works on a call whose answer was lost, its last
  // step fails if the file was taken away.
  Task<bool> take_back(std::string path) {
    CO_TRY(const bool unchanged, co_await directory_.exists(path));
    if (unchanged) co_return true;
    const std::string name = path.substr(path.rfind('/') + 1);
    const auto staged = directory_.path_in(fmt::format("{}/{}/{}", staging_, load_.family, name));
    if (!staged) co_return false;
    CO_TRY(const bool moved, co_await directory_.rename(*staged, path));
    if (moved) co_return true;
    co_return co_await directory_.exists(path);
  }

  Client& client_;
  LoadDirectory& directory_;
  const BulkLoad& load_;
  const std::string staging_;
  std::vector<LoadedFile> outcomes_;
  std::mutex mutex_;
  std::string refused_by_;  // guarded by mutex_ while calls run
};

}  // namespace

Task<std::vector<LoadedFile>> load_files(Client& client, LoadDirectory& directory, BulkLoad load) {
  if (load.files.empty()) co_return std::vector<LoadedFile>();
  CO_TRY(const std::string staging, co_await client.begin_bulk_load(load.table));
  Loading loading(client, directory, load, staging);
  Task<std::vector<LoadedFile>> running = loading.run();
  Result<std::vector<LoadedFile>> outcomes = co_await std::move(running);
  Task<void> ending = client.end_bulk_load(load.table, staging);
  const Result<void> ended = co_await std::move(ending);
  if (!ended) {
    log::warn("the staging directory {} of a bulk load stays: {}", staging, ended.error().message);
  }
  co_return outcomes;
}

}  // namespace halite::storage::hbase
