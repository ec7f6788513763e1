#include "app/bulk/loader_sink.h"

#include <utility>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

namespace halite::app {

LoaderSink::LoaderSink(storage::PointSink& store, storage::PointLoader& loader, unsigned threads,
                       std::size_t points_max)
    : store_(store),
      loader_(loader),
      points_max_(points_max),
      pool_(threads),
      turn_(std::make_shared<Semaphore>(SemaphoreLoad{.items = 1, .bytes = 0})) {}

LoaderSink::~LoaderSink() { pool_.join(); }

Task<storage::Accepted> LoaderSink::append(storage::PointBatch batch) {
  CO_TRY(const Semaphore::Permit turn, co_await turn_->enter({.items = 1, .bytes = 0}));
  if (gathered_.size() >= points_max_) {
    CO_TRY_VOID(co_await load_gathered());
  }
  if (pin_ == nullptr) pin_ = store_.pin_series();
  const auto add = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(gathered_.series, batch.series);
  add(gathered_.times, batch.times);
  add(gathered_.values, batch.values);
  add(gathered_.flags, batch.flags);
  co_return storage::Accepted{.durable = Completion::done(), .refused = {}};
}

ImportTarget::LateRefusals LoaderSink::take_refused() {
  const std::lock_guard lock(mutex_);
  return std::exchange(refused_, {});
}

Task<void> LoaderSink::load() {
  CO_TRY(const Semaphore::Permit turn, co_await turn_->enter({.items = 1, .bytes = 0}));
  co_return co_await load_gathered();
}

// Keeps the points if it fails: to load them again is harmless.
Task<void> LoaderSink::load_gathered() {
  if (gathered_.size() == 0) co_return Result<void>();
  auto loading = boost::asio::co_spawn(pool_, loader_.load(gathered_), boost::asio::use_awaitable);
  CO_TRY(const storage::LoadedPoints loaded, co_await std::move(loading));
  if (!loaded.refused.empty()) {
    const std::lock_guard lock(mutex_);
    if (refused_.points == 0) refused_.reason = loaded.refused.front().error.message;
    refused_.points += loaded.refused.size();
  }
  gathered_ = {};
  pin_.reset();
  co_return Result<void>();
}

}  // namespace halite::app
