// Runs blocking work on a thread pool, so that event loops never wait for a disk.
#pragma once

#include <type_traits>
#include <utility>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "common/result.h"

namespace halite {

// Calls job(), which returns a Result, on a thread of `pool`. Then resumes with the result on the
// caller's executor. The pool must live until then and must not be joined before the call.
//   auto job = [self] { return self->load(); };
//   CO_TRY(auto rows, co_await offload(pool, std::move(job)));
template <class Job>
boost::asio::awaitable<std::invoke_result_t<Job&>> offload(boost::asio::thread_pool& pool,
                                                           Job job) {
  using Outcome = std::invoke_result_t<Job&>;
  auto initiate = [](auto handler, auto on, Job work) {
    // Tracked: a thread that waits until the caller's context has no work and then destroys it also
    // waits for the post() below to return. post() still uses the context when the caller resumes.
    auto caller_executor = boost::asio::prefer(boost::asio::get_associated_executor(handler),
                                               boost::asio::execution::outstanding_work.tracked);
    auto run = [caller_executor, handler = std::move(handler), work = std::move(work)]() mutable {
      auto resume = [handler = std::move(handler), outcome = work()]() mutable {
        std::move(handler)(std::move(outcome));
      };
      boost::asio::post(caller_executor, std::move(resume));
    };
    boost::asio::post(on, std::move(run));
  };
  auto finished = boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void(Outcome)>(
      initiate, boost::asio::use_awaitable, pool.get_executor(), std::move(job));
  co_return co_await std::move(finished);
}

}  // namespace halite
