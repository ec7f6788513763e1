// GET, POST /api/aggregators and GET /aggregators: the names of all aggregators.
//
// Parameters  none
// Answer      200 ["sum","min",..]
// Errors      none
#include "common/json_list.h"
#include "query/parse/aggregator.h"
#include "web/handlers/handlers.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_aggregators(Call&) {
  std::string json;
  append_json_texts(json, query::aggregator_names());
  co_return json_response(200, std::move(json));
}

}  // namespace halite::web
