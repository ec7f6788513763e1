#include "tests/support/run_task.h"

#include <exception>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "common/check.h"

namespace halite::test {
namespace {

void check_end(const std::exception_ptr& thrown) {
  HALITE_CHECK(!thrown, "a task of the test threw");
}

}  // namespace

void run_to_end(boost::asio::awaitable<void> work) {
  // Until the thread ends: another thread that has just posted the last step to it may still be
  // inside that call when the step is done.
  static thread_local boost::asio::io_context context;
  context.restart();
  boost::asio::co_spawn(context, std::move(work), check_end);
  context.run();
}

void run_to_end(std::vector<boost::asio::awaitable<void>> works, std::size_t threads) {
  boost::asio::thread_pool pool(threads);
  for (auto& work : works) boost::asio::co_spawn(pool, std::move(work), check_end);
  pool.join();
}

}  // namespace halite::test
