// Iterates over series in parts, so that the caller can do other work between parts.
//
//   Threads   not thread-safe.
//   Lifetime  the object that made it must outlive it.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"

namespace halite::storage {

class SeriesIterator {
 public:
  virtual ~SeriesIterator() = default;
  // The tsuids of the next part, which reads at most some thousands of rows. A part may be empty,
  // and a series may occur several times. nullopt at the end.
  virtual Task<std::optional<std::vector<Bytes>>> next() = 0;
};

// Concatenates iterators.
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
