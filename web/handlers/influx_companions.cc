// What clients of InfluxDB ask before they write. docs/send-data/influx.md
//
// GET, HEAD /ping         204; with verbose=true 200 {"version":".."}
// GET /health             200 {"name":"influxdb","status":"pass",..}
// GET, POST /query        q: CREATE DATABASE is accepted and does nothing, SHOW DATABASES returns
//                         none: a database is a tag. 400 for anything else
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "web/handlers/handlers.h"

namespace halite::web {
namespace {

// Whether a statement begins with these two words, in any case.
bool begins_with_words(std::string_view text, std::string_view first, std::string_view second) {
  const auto take = [&text](std::string_view word) {
    text = trim(text);
    if (!equal_ignoring_case(text.substr(0, word.size()), word)) return false;
    text.remove_prefix(word.size());
    return text.empty() || !is_letter(text.front());
  };
  return take(first) && take(second);
}

}  // namespace

boost::asio::awaitable<Response> handle_influx_ping(Call& call) {
  const std::string_view verbose = call.target.get("verbose");
  Response response =
      verbose.empty() || verbose == "false" || verbose == "0"
          ? json_response(204, "")
          : json_response(200, fmt::format(R"({{"version":"{}"}})", kInfluxVersion));
  response.headers.add("X-Influxdb-Version", std::string(kInfluxVersion));
  co_return response;
}

boost::asio::awaitable<Response> handle_influx_health(Call& call) {
  co_return json_response(
      200, fmt::format(R"({{"checks":[],"message":"ready for writes","name":"influxdb",)"
                       R"("status":"pass","version":"{}"}})",
                       call.services.version.version));
}

boost::asio::awaitable<Response> handle_influx_query(Call& call) {
  std::string statement(call.target.get("q"));
  if (statement.empty() && call.request.method == "POST") {
    const Result<Parameters> form = parse_parameters(call.request.body);
    if (!form) co_return error_response(call, form.error());
    for (const auto& [name, value] : *form) {
      if (name == "q") statement = value;
    }
  }
  if (statement.empty()) co_return error_response(call, 400, R"(missing required parameter "q")");
  if (begins_with_words(statement, "CREATE", "DATABASE")) {
    co_return json_response(200, R"({"results":[{"statement_id":0}]})");
  }
  if (begins_with_words(statement, "SHOW", "DATABASES")) {
    co_return json_response(200, R"({"results":[{"statement_id":0,"series":[{"name":"databases",)"
                                 R"("columns":["name"]}]}]})");
  }
  co_return error_response(call, 400,
                           "this is Halite, which takes InfluxDB's lines and has no InfluxQL; "
                           "query /api/query");
}

}  // namespace halite::web
