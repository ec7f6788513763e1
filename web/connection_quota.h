// How many connections there may be, in all and of one address, so that one client cannot take the
// places of all others.
#pragma once

#include <cstddef>
#include <map>

#include <boost/asio/ip/address.hpp>

namespace halite::web {

// Not thread-safe. A limit of 0 is none.
class ConnectionQuota {
 public:
  struct Limits {
    std::size_t all;
    std::size_t of_address;
  };
  explicit ConnectionQuota(Limits limits) : limits_(limits) {}

  // Whether there is a place for one more; then it has it.
  [[nodiscard]] bool take(const boost::asio::ip::address& from) {
    if (limits_.all != 0 && all_ >= limits_.all) return false;
    std::size_t& held = of_address_[from];
    if (limits_.of_address != 0 && held >= limits_.of_address) return false;
    ++held;
    ++all_;
    return true;
  }

  void give_back(const boost::asio::ip::address& from) {
    const auto held = of_address_.find(from);
    if (--held->second == 0) of_address_.erase(held);
    --all_;
  }

 private:
  const Limits limits_;
  std::size_t all_ = 0;
  std::map<boost::asio::ip::address, std::size_t> of_address_;  // none of 0
};

}  // namespace halite::web
