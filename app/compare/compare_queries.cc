#include "app/compare/compare_queries.h"

#include <map>
#include <optional>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <re2/re2.h>

#include "common/bytes/ascii.h"
#include "common/json/json_value.h"
#include "query/parse/parse_context.h"
#include "query/parse/question_parse.h"
#include "query/parse/time.h"

namespace halite::app {

namespace {

constexpr std::string_view kPath = "/api/query";

// The path of "http://host:4242/path".
std::string_view without_host(std::string_view target) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!target.starts_with(scheme)) continue;
    const std::size_t slash = target.find('/', scheme.size());
    return slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  return target;
}

// True for /api/query and /api/v1/query, with or without parameters.
bool asks_points(std::string_view target) {
  const std::string path(target.substr(0, target.find('?')));
  static const RE2 kQuery("/api/(v[0-9]+/)?query/?");
  return RE2::FullMatch(path, kQuery);
}

// Calls `see` with the name, the undecoded value and the whole text of each parameter.
template <class See>
void each_parameter(std::string_view target, See see) {
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) return;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view piece = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(piece.size() + 1, rest.size()));
    const std::size_t equals = std::min(piece.find('='), piece.size());
    see(piece.substr(0, equals), piece.substr(std::min(equals + 1, piece.size())), piece);
  }
}

// True if parameters change the method, or make the query delete points.
bool may_change(std::string_view target) {
  bool may = false;
  each_parameter(target, [&may](std::string_view name, std::string_view, std::string_view) {
    may = may || name == "method_override" || name == "delete" || name.contains('%');
  });
  return may;
}

class Lines {
 public:
  void take(std::size_t line, std::string_view text) {
    if (text.empty() || text.front() == '#') return;
    if (text.front() == '{') return take_body(line, text);
    static const RE2 kLogged(R"re("([A-Z]+) (\S+) HTTP/[0-9.]+")re");
    std::string method;
    std::string target;
    if (RE2::PartialMatch({text.data(), text.size()}, kLogged, &method, &target)) {
      return take_logged(line, method, without_host(target));
    }
    std::string_view path = without_host(text);
    if (path.contains(' ')) return bad(line, "not a query and not a line of an access log");
    if (path.front() == '/') {
      if (!asks_points(path)) return bad(line, fmt::format("only {} is supported", kPath));
      return take_target(line, std::string(path));
    }
    if (path.front() == '?') path.remove_prefix(1);
    if (!path.contains('=')) return bad(line, "not a query and not a line of an access log");
    take_target(line, fmt::format("{}?{}", kPath, path));
  }

  CompareQueries finish() && { return std::move(file_); }

 private:
  void bad(std::size_t line, std::string why) { file_.bad.push_back({line, std::move(why)}); }

  void add(std::size_t line, std::string target, std::string body) {
    const auto [place, is_new] = places_.try_emplace(std::pair(target, body), file_.queries.size());
    if (!is_new) {
      ++file_.queries[place->second].times;
      return;
    }
    file_.queries.push_back({.line = line, .target = std::move(target), .body = std::move(body)});
  }

  void take_logged(std::size_t line, std::string_view method, std::string_view target) {
    const bool query = asks_points(target);
    if (query && method == "GET" && target.contains('?') && !may_change(target)) {
      add(line, std::string(target), {});
    } else if (query && method == "POST") {
      ++file_.posts;
    } else {
      ++file_.other;
    }
  }

  void take_target(std::size_t line, std::string target) {
    if (!target.contains('?')) return bad(line, "a query without parameters");
    if (may_change(target)) return bad(line, "skipped because it may delete data");
    add(line, std::move(target), {});
  }

  void take_body(std::size_t line, std::string_view text) {
    boost::system::error_code problem;
    const boost::json::value body = parse_json_value(text, problem);
    if (problem || !body.is_object()) {
      return bad(line, fmt::format("not a JSON object: {}", problem.message()));
    }
    if (body.as_object().contains("delete")) return bad(line, "skipped because it may delete data");
    add(line, std::string(kPath), std::string(text));
  }

  CompareQueries file_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;  // in file_.queries
};

// "1h-ago" in milliseconds; nullopt if it is already fixed, or invalid.
std::optional<std::string> fixed(std::string_view time, TimestampMs now) {
  if (time != "now" && !time.ends_with("-ago")) return std::nullopt;
  query::ParseContext context;
  context.now = now;
  const Result<TimestampMs> at = query::parse_time(time, context);
  if (!at) return std::nullopt;
  return std::to_string(*at);
}

std::string pinned_target(std::string_view target, TimestampMs now) {
  std::string made(target.substr(0, target.find('?')));
  char before = '?';
  bool has_end = false;
  const auto see = [&](std::string_view name, std::string_view value, std::string_view piece) {
    made += std::exchange(before, '&');
    const bool is_time = name == "start" || name == "end";
    const auto at = is_time ? fixed(value, now) : std::nullopt;
    has_end = has_end || name == "end";
    made += at ? fmt::format("{}={}", name, *at) : std::string(piece);
  };
  each_parameter(target, see);
  if (!has_end) made += fmt::format("{}end={}", before, now);
  return made;
}

std::string pinned_body(const std::string& text, TimestampMs now) {
  boost::system::error_code none;  // the text parsed before
  boost::json::value body = parse_json_value(text, none);
  boost::json::object& fields = body.as_object();
  if (!fields.contains("end") || fields.at("end").is_null()) fields["end"] = now;
  for (const char* name : {"start", "end"}) {
    const boost::json::value* const value = fields.if_contains(name);
    if (value == nullptr || !value->is_string()) continue;
    if (const auto at = fixed(std::string_view(value->as_string()), now)) fields[name] = *at;
  }
  return boost::json::serialize(body);
}

}  // namespace

CompareQueries read_compare_queries(std::string_view text) {
  Lines lines;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.take(line, trim(text.substr(0, end), " \t\r"));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return std::move(lines).finish();
}

CompareQuery pinned(const CompareQuery& asked, TimestampMs now) {
  CompareQuery made = asked;
  if (asked.body.empty()) {
    made.target = pinned_target(asked.target, now);
  } else {
    made.body = pinned_body(asked.body, now);
  }
  return made;
}

}  // namespace halite::app
