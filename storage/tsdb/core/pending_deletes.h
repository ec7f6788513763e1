// Deletes that are being prepared. Each has a flush number of its own, above every flush so far and
// below all that come: its tombstones hide what has a lower one.
//
// What is made of several flushes gets the greatest of their numbers. So nothing from below a
// pending delete's number may be joined with something from above until its tombstones are there:
// sealing leaves what is not below lowest() as it is.
//
//   Threads  any.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

namespace halite::storage::engine {

class PendingDeletes {
 public:
  // A delete is pending while this lives, which may be longer than the list does.
  class Pending {
   public:
    ~Pending();
    Pending(const Pending&) = delete;
    Pending& operator=(const Pending&) = delete;
    [[nodiscard]] std::uint64_t number() const { return number_; }

   private:
    friend class PendingDeletes;
    struct Numbers {
      std::mutex mutex;
      std::set<std::uint64_t> pending;  // guarded by mutex
    };
    Pending(std::shared_ptr<Numbers> numbers, std::uint64_t number);
    const std::shared_ptr<Numbers> numbers_;
    const std::uint64_t number_;
  };

  // No other pending one has the number.
  [[nodiscard]] std::unique_ptr<const Pending> begin(std::uint64_t number);

  [[nodiscard]] std::uint64_t lowest() const;   // UINT64_MAX: none is pending
  [[nodiscard]] std::uint64_t highest() const;  // 0: none is pending

 private:
  const std::shared_ptr<Pending::Numbers> numbers_ = std::make_shared<Pending::Numbers>();
};

}  // namespace halite::storage::engine
