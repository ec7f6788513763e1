// A lease: of all servers that share a table, one holds it and computes the views.
//
// The holder adds 1 to a number in the lease's row at each step(). Another server takes the lease
// when the number has not changed for kExpiresMs by its own steady clock. No two clocks are
// compared.
//
//   row "lease", column ""   number(8) · id of the holder(16) · host of the holder
//                            an id of zeros: the lease was released
//
//   Threads  step() and release() from one at a time, the others from any.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

class ViewLease {
 public:
  static constexpr std::int64_t kRenewMs = 5'000;     // between two calls of step()
  static constexpr std::int64_t kCertainMs = 15'000;  // after the begin of the last renewal
  // A write that begins while it is certain has ended by then, whatever hbase.timeout_ms is:
  // may_write() gives it an end. The rest is for the work of the region server itself.
  static constexpr std::int64_t kWriteMs = 15'000;
  static constexpr std::int64_t kExpiresMs = 35'000;
  static_assert(kCertainMs + kWriteMs < kExpiresMs);
  static constexpr std::size_t kIdBytes = 16;

  // `id` differs between all servers and starts: kIdBytes, not all zero. The clock must outlive it.
  ViewLease(std::shared_ptr<Table> table, Bytes id, std::string host, const Clock& clock);

  // Renews the lease, or takes it if no other server holds it.
  Task<void> step();
  // Lets another server take it at once. Does nothing if it is not held.
  Task<void> release();

  // How often the lease was taken; 0: it is not held for certain. Another number means that another
  // server may have written meanwhile.
  [[nodiscard]] std::uint64_t term() const;
  // The end for a write (Table::write_until) of what was read in this term. kConflict: the term is
  // over, or not certain. Then nothing may be written. Call it for each write.
  [[nodiscard]] Result<WriteEnd> may_write(std::uint64_t term) const;
  // The host of the holder at the last step(); empty: none.
  [[nodiscard]] std::string holder() const;

 private:
  struct Stored {
    std::uint64_t number = 0;
    Bytes id;
    std::string host;
  };
  [[nodiscard]] static Result<Stored> parse(BytesView value);
  [[nodiscard]] Bytes next_value(const std::optional<Bytes>& current, BytesView id) const;
  Task<std::optional<Bytes>> read();
  // Writes `value` if the row contains `expected`. False: it contains something else.
  Task<bool> replace(std::optional<Bytes> expected, Bytes value);
  Task<void> renew(std::int64_t now_us);
  Task<void> watch(std::int64_t now_us);
  void lose();

  const std::shared_ptr<Table> table_;
  const Bytes id_;
  const std::string host_;
  const Clock& clock_;

  // For step() only.
  Bytes mine_;                    // what the row contains while it is held
  std::optional<Bytes> watched_;  // of another holder
  std::int64_t watched_us_ = -1;  // since when; -1: nothing was seen yet

  mutable std::mutex mutex_;  // guards the rest
  bool held_ = false;
  std::int64_t renewed_us_ = 0;
  std::uint64_t terms_ = 0;
  std::string holder_;
};

}  // namespace halite::storage
