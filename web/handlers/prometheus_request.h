// What the requests of Prometheus' API have in common: parameters and errors.
//
// Errors of PrometheusParameters are kInvalidArgument with Prometheus' message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/result.h"
#include "query/question.h"
#include "query/selector/selector.h"
#include "web/endpoint.h"
#include "web/http/target.h"

namespace halite::web {

// The greatest time, some 36 million years; the least is its negative. Others become these.
inline constexpr TimestampMs kPrometheusTimeMax = TimestampMs{1} << 60;

// The parameters of the form in the body, then those of the URI. Unknown ones are ignored.
class PrometheusParameters {
 public:
  [[nodiscard]] static Result<PrometheusParameters> of(const Call& call);

  // The first with that name; empty if there is none.
  [[nodiscard]] std::string_view get(std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> all(std::string_view name) const;

  // A number of seconds or RFC 3339. `cannot parse "x" to a valid timestamp`.
  [[nodiscard]] Result<TimestampMs> time(std::string_view name) const;
  // The same; `otherwise` if it is empty. `invalid time value for 'time': cannot parse ..`.
  [[nodiscard]] Result<TimestampMs> time_or(std::string_view name, TimestampMs otherwise) const;
  // A number of seconds or a duration such as 5m30s, in milliseconds, rounded towards 0.
  [[nodiscard]] Result<std::int64_t> duration(std::string_view name) const;
  [[nodiscard]] Result<std::size_t> limit() const;  // 0: none

  // All match[].
  [[nodiscard]] Result<std::vector<query::Selector>> selectors(const Call& call) const;

 private:
  Parameters parameters_;
};

// The times that points can have, from `first` to `last`, both included.
[[nodiscard]] TimeRange closed_range(TimestampMs first, TimestampMs last);

// An error as `invalid parameter "name": ...`.
[[nodiscard]] Error invalid_parameter(std::string_view name, const Error& error);

// 400 bad_data.
[[nodiscard]] Response bad_data(const Error& error);

// The answer to an error of QueryEngine::run_promql() and its neighbours.
[[nodiscard]] Response promql_error(const Error& error);

// Selectors as the log of queries shows them.
[[nodiscard]] query::Question selectors_question(const std::vector<std::string_view>& selectors,
                                                 TimeRange range);

}  // namespace halite::web
