// A memory limit for the request bodies of all connections together.
//
//   Threads  call a budget from any thread; a share belongs to one coroutine.
#pragma once

#include <atomic>
#include <cstddef>

namespace halite::web {

class ByteBudget {
 public:
  explicit ByteBudget(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  [[nodiscard]] std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::size_t left() const {
    const std::size_t now = used();
    return now < bytes_max_ ? bytes_max_ - now : 0;
  }

  // The part of one request; the destructor releases it.
  class Share {
   public:
    explicit Share(ByteBudget& budget) : budget_(budget) {}
    ~Share() { give_back(); }
    Share(const Share&) = delete;

    // Returns false and changes nothing if the budget is exhausted.
    [[nodiscard]] bool grow_to(std::size_t bytes) {
      if (bytes <= bytes_) return true;
      const std::size_t more = bytes - bytes_;
      if (budget_.used_.fetch_add(more, std::memory_order_relaxed) + more > budget_.bytes_max_) {
        budget_.used_.fetch_sub(more, std::memory_order_relaxed);
        return false;
      }
      bytes_ = bytes;
      return true;
    }
    void give_back() {
      budget_.used_.fetch_sub(bytes_, std::memory_order_relaxed);
      bytes_ = 0;
    }

   private:
    ByteBudget& budget_;
    std::size_t bytes_ = 0;
  };

 private:
  const std::size_t bytes_max_;
  std::atomic<std::size_t> used_ = 0;
};

}  // namespace halite::web
