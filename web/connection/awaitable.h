// Has an operation of Asio awaited, with its error returned instead of thrown.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace halite::web {

inline constexpr auto kAwaitable = boost::asio::as_tuple(boost::asio::use_awaitable);

}  // namespace halite::web
