// Limits on connections, in total and for each address, so that one client cannot use all of them.
#pragma once

#include <cstddef>
#include <map>

#include <boost/asio/ip/address.hpp>

namespace halite::web {

// Not thread-safe. A limit of 0 means no limit.
class ConnectionQuota {
 public:
  struct Limits {
    std::size_t all;
    std::size_t of_address;
  };
  explicit ConnectionQuota(Limits limits) : limits_(limits) {}

  // Takes a place for one more connection. Returns false if there is none.
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
  std::map<boost::asio::ip::address, std::size_t> of_address_;  // no zero counts
};

}  // namespace halite::web
