// The deletes that are being prepared. Each has its own flush number, above all flushes so far and
// below all later ones. Its tombstones hide points with a lower number.
//
// A chunk made from several flushes gets the greatest of their numbers. So until the tombstones of
// a pending delete are stored, cells below its number must not be merged with cells above it:
// sealing uses only cells below lowest().
//
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

namespace halite::storage::engine {

class PendingDeletes {
 public:
  // A delete is pending while this object lives. It may outlive the list.
  class Pending {
   public:
    ~Pending();
    Pending(const Pending&) = delete;
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

  // No other pending delete may have the number.
  [[nodiscard]] std::unique_ptr<const Pending> begin(std::uint64_t number);

  [[nodiscard]] std::uint64_t lowest() const;   // UINT64_MAX: none
  [[nodiscard]] std::uint64_t highest() const;  // 0: none

 private:
  const std::shared_ptr<Pending::Numbers> numbers_ = std::make_shared<Pending::Numbers>();
};

}  // namespace halite::storage::engine
