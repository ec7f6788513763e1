// Asynchronous work: a coroutine that returns a Result.
//
// A Task runs on the executor of its awaiter. Pass parameters by value, unless the caller awaits at
// once and the header says so. Write one co_await per statement (docs/decisions/ has the reasons).
#pragma once

#include <boost/asio/awaitable.hpp>

#include "common/result.h"

namespace halite {

template <class T>
using Task = boost::asio::awaitable<Result<T>>;

}  // namespace halite
