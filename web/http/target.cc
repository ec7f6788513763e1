#include "web/http/target.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "web/http/http_message.h"
#include "web/http/prometheus_path.h"

namespace halite::web {

namespace {

// The segments of "/a/b//c/": empty ones at the end are dropped, as in Java's split.
std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> segments;
  path.remove_prefix(1);
  while (true) {
    const std::size_t slash = path.find('/');
    segments.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  while (!segments.empty() && segments.back().empty()) segments.pop_back();
  return segments;
}

bool names_version(std::string_view segment) {
  return segment.size() > 1 && (segment[0] == 'v' || segment[0] == 'V') && is_digit(segment[1]);
}

Result<int> parse_version(std::string_view segment) {
  const std::string_view digits = segment.substr(1);
  int version = 0;
  if (!read_number(digits, version)) {
    return fail(Errc::kInvalidArgument, "Invalid API version format supplied",
                fmt::format("API version [{}] cannot be parsed to an integer", digits));
  }
  if (version > kApiVersionMax) {
    return fail(
        Errc::kUnsupported, "Requested API version is greater than the max implemented",
        fmt::format("API version [{}] is greater than the max [{}]", version, kApiVersionMax));
  }
  return version;
}

// "/path?query" of "http://host:4242/path?query" (RFC 9112, 3.2.2). Empty for other forms.
std::string without_authority(std::string_view text) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!equal_ignoring_case(text.substr(0, scheme.size()), scheme)) continue;
    text.remove_prefix(scheme.size());
    const std::size_t end = std::min(text.find_first_of("/?"), text.size());
    if (end == 0) return {};
    text.remove_prefix(end);
    return text.starts_with('/') ? std::string(text) : "/" + std::string(text);
  }
  return {};
}

// The number of segments of the prefix "/grafana/api" or "/grafana//api"; 0 without it.
std::size_t grafana_segments(const std::vector<std::string>& segments) {
  if (segments.empty() || to_lower(segments[0]) != "grafana") return 0;
  std::size_t at = 1;
  while (at < segments.size() && segments[at].empty()) ++at;
  return at < segments.size() && to_lower(segments[at]) == "api" ? at : 0;
}

// Finds the endpoint in the segments after the prefix.
Result<void> set_endpoint(const std::vector<std::string>& segments, std::size_t at,
                          Target& target) {
  if (at >= segments.size()) return {};
  target.endpoint = to_lower(segments[at]);
  if (target.endpoint != "api") {
    target.rest.assign(segments.begin() + static_cast<std::ptrdiff_t>(at) + 1, segments.end());
    return {};
  }
  target.api = true;
  target.version = kApiVersionMax;
  ++at;
  if (at < segments.size() && names_version(segments[at])) {
    TRY(target.version, parse_version(segments[at]));
    ++at;
  }
  if (at >= segments.size()) return {};
  target.endpoint += "/" + to_lower(segments[at]);
  target.rest.assign(segments.begin() + static_cast<std::ptrdiff_t>(at) + 1, segments.end());
  return {};
}

}  // namespace

bool Target::has(std::string_view name) const { return find(name) != nullptr; }

const std::string* Target::find(std::string_view name) const {
  const std::string* found = nullptr;
  for (const auto& [key, value] : parameters) {
    if (key == name) found = &value;
  }
  return found;
}

std::string_view Target::get(std::string_view name) const {
  const std::string* found = find(name);
  return found == nullptr ? std::string_view() : std::string_view(*found);
}

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      result += ' ';
    } else if (text[i] != '%') {
      result += text[i];
    } else {
      const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) {
        return fail(Errc::kInvalidArgument,
                    fmt::format("Bad query string: \"{}\" is not a %-escape", text.substr(i, 3)));
      }
      result += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return result;
}

Result<Parameters> parse_parameters(std::string_view text) {
  Parameters parameters;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("&;");
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    TRY(std::string name, percent_decode(pair.substr(0, equals), true));
    std::string value;
    if (equals != std::string_view::npos) {
      TRY(value, percent_decode(pair.substr(equals + 1), true));
    }
    parameters.emplace_back(std::move(name), std::move(value));
  }
  return parameters;
}

Result<void> parse_target(std::string_view text, bool grafana_prefix, Target& target) {
  const std::string from_root = without_authority(text);
  if (!from_root.empty()) text = from_root;
  if (text.empty() || text.front() != '/') {
    return fail(Errc::kInvalidArgument,
                fmt::format("The request target \"{}\" does not start with a slash", text));
  }
  // A client that appends "/api/..." to an address with a final slash sends "//api/...".
  text.remove_prefix(std::min(text.find_first_not_of('/'), text.size()) - 1);
  const std::size_t mark = text.find('?');
  TRY(target.path, percent_decode(text.substr(0, mark), false));
  const std::vector<std::string> segments = split_path(target.path);
  const std::size_t at = grafana_prefix ? grafana_segments(segments) : 0;
  target.grafana = at != 0;
  // Parameters come first: jsonp affects even the answer to a wrong version.
  Result<Parameters> parameters =
      mark == std::string_view::npos ? Parameters() : parse_parameters(text.substr(mark + 1));
  if (parameters) target.parameters = std::move(*parameters);
  if (const ForeignPath* const foreign = find_foreign_path(target.path)) {
    target.endpoint = foreign->endpoint;
    target.dialect = foreign->dialect;
  } else if (std::optional<PrometheusPath> path = find_prometheus_path(target.path)) {
    target.endpoint = path->endpoint;
    target.dialect = path->dialect;
    target.rest = std::move(path->rest);
  } else {
    TRY_VOID(set_endpoint(segments, at, target));
  }
  if (!parameters) return std::unexpected(std::move(parameters).error());
  return {};
}

}  // namespace halite::web
