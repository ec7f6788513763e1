// Pages by number, each made by its first user. The table takes memory for the pages that exist. Of
// a large table, the kernel gives zeroed memory for the pointers as they are used, so room for 2^32
// series is cheap.
//
//   Threads  call from any thread. The caller synchronizes access to the contents of a page.
//   Lifetime a page exists until the table ends.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include "common/check.h"

namespace halite {

template <class Page>
class PageTable {
 public:
  // For numbers below `size`.
  explicit PageTable(std::size_t size)
      : size_(size), pages_(static_cast<Page**>(std::calloc(size, sizeof(Page*)))) {
    if (pages_ == nullptr) throw std::bad_alloc();
  }
  ~PageTable() {
    for (std::size_t i = 0; i < used(); ++i) delete pages_[i];
    std::free(pages_);
  }
  PageTable(const PageTable&) = delete;
  PageTable& operator=(const PageTable&) = delete;

  // Null if no one has made it.
  [[nodiscard]] Page* find(std::size_t number) const {
    return std::atomic_ref(pages_[number]).load(std::memory_order_acquire);
  }

  struct Made {
    Page& page;
    bool is_new = false;
  };
  // The page, value-initialized if this call made it.
  Made make(std::size_t number) {
    HALITE_CHECK(number < size_, "a page beyond its table");
    if (Page* const page = find(number); page != nullptr) return {*page};
    auto fresh = std::make_unique<Page>();
    Page* other = nullptr;
    if (!std::atomic_ref(pages_[number])
             .compare_exchange_strong(other, fresh.get(), std::memory_order_acq_rel)) {
      return {*other};
    }
    std::size_t used = used_.load(std::memory_order_relaxed);
    while (used <= number && !used_.compare_exchange_weak(used, number + 1)) {
    }
    return {*fresh.release(), true};
  }

  // No page has this number or a greater one, apart from those made meanwhile.
  [[nodiscard]] std::size_t used() const { return used_.load(); }

 private:
  const std::size_t size_;
  Page** const pages_;
  std::atomic<std::size_t> used_ = 0;
};

}  // namespace halite
