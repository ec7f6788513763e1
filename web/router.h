// From a request to its answer: target, CORS, endpoint, method, handler, JSONP.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "web/endpoint.h"

namespace halite::web {

// A request whose endpoint was found out, before it is handled.
struct RoutedRequest {
  Call call;
  const Endpoint* endpoint = nullptr;  // nullptr: `refusal` is the answer
  Response refusal;
};

[[nodiscard]] RoutedRequest route(const WebOptions& options, const WebServices& services,
                                  WebMetrics& metrics, Request request, std::stop_token stop);

// Runs the handler, or takes the refusal, and adds what every answer has.
boost::asio::awaitable<Response> answer(RoutedRequest& routed);

// The answer to bytes that were no request, or were too many: an error envelope, then the end.
[[nodiscard]] Response refuse(int status, std::string_view message);

}  // namespace halite::web
