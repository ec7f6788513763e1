// A walk through series that goes on in parts, so that whoever asks may do something else between
// two of them.
//
//   Threads   for one coroutine at a time.
//   Lifetime  what made it outlives it.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/bytes.h"
#include "common/task.h"

namespace halite::storage {

class SeriesIterator {
 public:
  virtual ~SeriesIterator() = default;
  // The tsuids of the next part, which takes some thousands of rows at most; a part may be empty,
  // and a series may come several times. Nothing: it is over.
  virtual Task<std::optional<std::vector<Bytes>>> next() = 0;
};

// One after the other.
class ChainedSeriesIterator final : public SeriesIterator {
 public:
  explicit ChainedSeriesIterator(std::vector<std::unique_ptr<SeriesIterator>> walks)
      : walks_(std::move(walks)) {}
  Task<std::optional<std::vector<Bytes>>> next() override {
    while (at_ < walks_.size()) {
      CO_TRY(auto part, co_await walks_[at_]->next());
      if (part) co_return std::move(part);
      ++at_;
    }
    co_return std::nullopt;
  }

 private:
  const std::vector<std::unique_ptr<SeriesIterator>> walks_;
  std::size_t at_ = 0;
};

}  // namespace halite::storage
