#include "storage/cells/rollups/replaced_cells.h"

#include <algorithm>
#include <chrono>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace halite::storage {
namespace {

namespace asio = boost::asio;

// Maximum waits for a clock that stands still (in tests).
constexpr int kWaitsMax = 3;

}  // namespace

bool ReplacedCells::tie(const std::vector<CellSlot>& slots) {
  const std::lock_guard lock(mutex_);
  if (clock_.now_ms() > completed_ms_) {
    forms_.clear();
    return false;
  }
  return std::ranges::any_of(slots, [this](const CellSlot& slot) {
    const auto found = forms_.find(slot.slot_hash);
    return found != forms_.end() && found->second != slot.form;
  });
}

Task<void> ReplacedCells::wait_for_distinct_time(std::vector<CellSlot> slots) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  for (int waits = 0; waits < kWaitsMax && tie(slots); ++waits) {
    timer.expires_after(std::chrono::milliseconds(1));
    auto waiting = timer.async_wait(asio::as_tuple(asio::use_awaitable));
    const auto [error] = co_await std::move(waiting);
    if (error) co_return fail(Errc::kCancelled, "stopped before it was written");
  }
  co_return Result<void>();
}

void ReplacedCells::completed(const std::vector<CellSlot>& slots) {
  const std::lock_guard lock(mutex_);
  const TimestampMs now = clock_.now_ms();
  if (now > completed_ms_) forms_.clear();
  completed_ms_ = std::max(completed_ms_, now);
  for (const CellSlot& slot : slots) forms_[slot.slot_hash] = slot.form;
}

}  // namespace halite::storage
