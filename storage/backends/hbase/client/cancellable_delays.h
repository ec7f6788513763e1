// Delays that end early when the client closes.
//
//   Threads  Call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <set>

#include <boost/asio/any_io_executor.hpp>

#include "common/threads/completion.h"
#include "common/threads/task.h"

namespace halite::storage::hbase {

class CancellableDelays : public std::enable_shared_from_this<CancellableDelays> {
 public:
  explicit CancellableDelays(const boost::asio::any_io_executor& executor);

  // kUnavailable: the client closed meanwhile.
  Task<void> pause(std::uint32_t ms);

  // Finishes when no timer is left.
  Task<void> close();

 private:
  struct Wait;
  void begin(const std::shared_ptr<Wait>& wait);

  const boost::asio::any_io_executor strand_;
  // Use it only on the strand.
  std::set<std::shared_ptr<Wait>> waits_;
  bool closed_ = false;
};

}  // namespace halite::storage::hbase
