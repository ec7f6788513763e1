// GET, POST /api/v1/metadata: type, help and unit of metric families, as Prometheus answers it.
//
// Parameters  metric: only this family; limit: at most so many; limit_per_metric: entries of
//             each, of which there is one
// Answer      200 {"status":"success","data":{"up":[{"type":"gauge","help":"..","unit":""}]}}
// Errors      400 a limit is no number
#include <optional>
#include <string>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "common/json_string.h"
#include "storage/meta/metadata.h"
#include "web/handlers/handlers.h"
#include "web/handlers/prometheus_request.h"
#include "web/json/prometheus_json.h"

namespace halite::web {
namespace {

constexpr std::size_t kFamiliesMax = 100'000;

// As in Prometheus, a negative limit is none.
Result<std::size_t> limit_of(const PrometheusParameters& parameters, std::string_view name) {
  const std::string_view text = parameters.get(name);
  if (text.empty()) return kFamiliesMax;
  std::int64_t limit = 0;
  if (!read_number(text, limit)) {
    return fail(Errc::kInvalidArgument, fmt::format("{} must be a number", name));
  }
  if (limit < 0) return kFamiliesMax;
  return std::min(kFamiliesMax, static_cast<std::size_t>(limit));
}

Response families_answer(const storage::Families& families) {
  std::string json = "{";
  for (const auto& [name, fields] : families) {
    if (json.back() != '{') json += ',';
    append_json_string(json, name);
    json += fmt::format(R"(:[{{"type":{},"help":{},"unit":{}}}])",
                        json_string(fields.type.empty() ? "unknown" : fields.type),
                        json_string(fields.help), json_string(fields.unit));
  }
  return prometheus_success(json + '}');
}

}  // namespace

boost::asio::awaitable<Response> handle_metric_families(Call& call) {
  const Result<PrometheusParameters> parameters = PrometheusParameters::of(call);
  if (!parameters) co_return bad_data(parameters.error());
  const Result<std::size_t> limit = limit_of(*parameters, "limit");
  if (!limit) co_return bad_data(limit.error());
  const Result<std::size_t> of_each = limit_of(*parameters, "limit_per_metric");
  if (!of_each) co_return bad_data(of_each.error());
  std::optional<std::string> name;
  if (!parameters->get("metric").empty()) name = parameters->get("metric");
  auto reading = call.services.metadata.families().read(std::move(name), *limit);
  const Result<storage::Families> families = co_await std::move(reading);
  if (!families) co_return error_response(call, families.error());
  co_return families_answer(*families);
}

}  // namespace halite::web
