// The threads on which queries run.
#pragma once

#include <boost/asio/any_io_executor.hpp>

namespace halite::query {

struct QueryExecutors {
  boost::asio::any_io_executor large;
  boost::asio::any_io_executor small;  // for small queries that need the disk (scheduler.h)
};

}  // namespace halite::query
