// From a request to its answer: target, CORS, endpoint, method, handler, JSONP.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "web/endpoint.h"

namespace halite::web {

// A request with its endpoint, before it is handled.
struct RoutedRequest {
  Call call;
  const Endpoint* endpoint = nullptr;  // nullptr: `refusal` is the answer
  Response refusal;
};

[[nodiscard]] RoutedRequest route(const WebOptions& options, const WebServices& services,
                                  WebMetrics& metrics, Request request, std::stop_token stop);

// Runs the handler or returns the refusal, and adds the common headers.
boost::asio::awaitable<Response> answer(RoutedRequest& routed);

// The answer to an invalid or oversized request: an error envelope; then the connection closes.
[[nodiscard]] Response refuse(int status, std::string_view message);

}  // namespace halite::web
