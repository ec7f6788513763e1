#include "app/bulk/url_target.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "app/client/server_answer.h"
#include "common/bytes/read_number.h"
#include "common/json_string.h"
#include "common/threads/run_here.h"
#include "ingest/formats/number_text.h"
#include "ingest/formats/times.h"

namespace halite::app {
namespace {

// Limits of one request.
constexpr std::size_t kBodyPointsMax = 2'000;
constexpr std::size_t kBodyBytesMax = 2 << 20;
// OpenTSDB's limit unless tsd.http.request.enable_chunked is true; then it is
// tsd.http.request.max_chunk.
constexpr std::size_t kUnchunkedBytesMax = 8192;

constexpr std::string_view kPutPath = "/api/put";
constexpr std::string_view kVersionPath = "/api/version";
constexpr std::string_view kConfigPath = "/api/config";

struct Body {
  std::string json = "[";            // an array of points
  std::vector<std::uint32_t> lines;  // of each point
};

std::string_view text_of(const boost::json::value* value) {
  return value != nullptr && value->is_string() ? std::string_view(value->get_string())
                                                : std::string_view();
}

bool is_temporary(const HttpReply& reply) {
  constexpr unsigned kTooMany = 429;
  return reply.status == kTooMany || reply.status >= 500;
}

// What Retry-After says. The date that it may be instead is not read.
std::chrono::milliseconds retry_after(const HttpReply& reply) {
  constexpr std::int64_t kSecondsMax = 86'400;
  std::int64_t seconds = 0;
  if (!is_temporary(reply) || !read_number(reply.retry_after, seconds)) seconds = 0;
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kSecondsMax));
}

// The error of an answer that is about the whole request.
std::unexpected<Error> refusal_of(const Peer& peer, std::string_view path, const HttpReply& reply) {
  return fail(is_temporary(reply) ? Errc::kUnavailable : Errc::kInvalidArgument,
              answer_text(peer, path, reply));
}

// The answer is none of this path of OpenTSDB or Halite.
std::unexpected<Error> unexpected_answer(const Peer& peer, std::string_view path,
                                         const HttpReply& reply) {
  return fail(Errc::kInvalidArgument,
              fmt::format("{}; neither Halite nor OpenTSDB answers so: check the URL",
                          answer_text(peer, path, reply)));
}

// The object at a path that needs the role read. Null: only writing is allowed, or the settings are
// not shown to anybody, as behind some proxies.
Result<boost::json::value> get_object(const Peer& peer, std::string_view path) {
  TRY(const HttpReply reply,
      run_here(send_http(peer, {.target = std::string(path), .body = {}}, HttpLimits())));
  constexpr unsigned kForbidden = 403;
  const bool hidden = path == kConfigPath && reply.status / 100 == 4 && !is_temporary(reply);
  if (reply.status == kForbidden || hidden) return boost::json::value();
  if (reply.status / 100 != 2) return refusal_of(peer, path, reply);
  boost::system::error_code error;
  boost::json::value value = parse_answer(reply.body, error);
  if (error || !value.is_object()) return unexpected_answer(peer, path, reply);
  if (path == kVersionPath && text_of(value.get_object().if_contains("version")).empty()) {
    return unexpected_answer(peer, path, reply);
  }
  return value;
}

// The size of a body that a server with this answer of /api/config takes.
std::size_t body_limit(const boost::json::value& settings) {
  if (!settings.is_object()) return kBodyBytesMax;
  const boost::json::object& object = settings.get_object();
  const std::string_view chunked = text_of(object.if_contains("tsd.http.request.enable_chunked"));
  if (chunked.empty()) return kBodyBytesMax;  // not OpenTSDB
  const auto limit = ingest::read_count(text_of(object.if_contains("tsd.http.request.max_chunk")));
  if (chunked != "true" || !limit || *limit <= 0) return kUnchunkedBytesMax;
  return std::min(kBodyBytesMax, static_cast<std::size_t>(*limit));
}

// Reads the points of lines into bodies.
class BodyBuilder final : private ingest::PointReceiver {
 public:
  BodyBuilder(const ingest::ImportFormat& format, const ingest::PointRules& rules,
              std::size_t body_bytes_max)
      : body_bytes_max_(body_bytes_max),
        has_comments_(format.format == ingest::Format::kOpenTsdb),
        parser_(ingest::make_parser(format.format, format.options, rules)) {}

  std::uint32_t add(const ingest::ImportText& text) {
    if (!text.header.empty()) parser_->begin_behind(text.header);
    for (std::string_view lines = text.lines; !lines.empty();) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      const std::string_view line = lines.substr(0, end);
      lines.remove_prefix(std::min(end + 1, lines.size()));
      ++line_;
      if (!has_comments_ || !line.starts_with('#')) parser_->line(line, *this);
    }
    if (text.ends) parser_->end(*this);
    for (Body& body : bodies_) body.json.back() = ']';
    return line_;
  }

  void add(const std::vector<ingest::SeriesPoints>& points) {
    for (const ingest::SeriesPoints& one : points) {
      ++line_;
      begin_series(one.series);
      for (const ingest::PointBits& bits : one.points) point(bits);
    }
    for (Body& body : bodies_) body.json.back() = ']';
  }

  [[nodiscard]] const std::vector<Body>& bodies() const { return bodies_; }
  [[nodiscard]] const std::vector<ingest::RefusedLine>& refused() const { return refused_; }

 private:
  void series(const ingest::SeriesKey& key) override {
    auto name = parser_->series_name(key);
    if (name) return begin_series(*name);
    unnamed_ = std::move(name).error().text;
  }

  void begin_series(const SeriesName& name) {
    unnamed_.reset();
    series_ = R"({"metric":)";
    append_json_string(series_, name.metric);
    tags_ = R"(,"tags":{)";
    for (const Tag& tag : name.tags) {
      if (tags_.back() != '{') tags_ += ',';
      append_json_string(tags_, tag.key);
      tags_ += ':';
      append_json_string(tags_, tag.value);
    }
    tags_ += "}},";
  }

  void point(ingest::PointBits point) override {
    if (unnamed_) return refuse(*unnamed_);
    const bool in_ms = (point.flags & kMillis) != 0 || point.time % 1000 != 0;
    if (in_ms && point.time < ingest::kSurelyMillis) {
      return refuse(fmt::format("/api/put would read {} ms as seconds", point.time));
    }
    if ((point.flags & kFloat) != 0 && !std::isfinite(as_double(point.value))) {
      return refuse("/api/put takes neither NaN nor infinity");
    }
    text_ = series_;
    fmt::format_to(std::back_inserter(text_), R"(,"timestamp":{},"value":)",
                   in_ms ? point.time : point.time / 1000);
    ingest::append_value(text_, point, true, {});
    text_ += tags_;
    if (bodies_.empty() || bodies_.back().lines.size() >= kBodyPointsMax ||
        bodies_.back().json.size() + text_.size() > body_bytes_max_) {
      bodies_.emplace_back();
    }
    bodies_.back().lines.push_back(line_);
    bodies_.back().json += text_;
  }

  void refuse(std::string reason) override {
    if (!refused_.empty() && refused_.back().line == line_ && refused_.back().reason == reason) {
      ++refused_.back().points;
      return;
    }
    refused_.push_back({.line = line_, .reason = std::move(reason)});
  }

  const std::size_t body_bytes_max_;
  const bool has_comments_;
  const std::unique_ptr<ingest::PointParser> parser_;
  std::uint32_t line_ = 0;
  std::string series_;                  // the beginning of each point
  std::string tags_;                    // its end
  std::string text_;                    // of the current point
  std::optional<std::string> unnamed_;  // why the series has no name
  std::vector<Body> bodies_;
  std::vector<ingest::RefusedLine> refused_;
};

// What names a point: an answer may have its tags in another order.
std::string key_of(const boost::json::object& point) {
  std::string key;
  for (const std::string_view member : {"metric", "timestamp"}) {
    const boost::json::value* const found = point.if_contains(member);
    if (found != nullptr) key += boost::json::serialize(*found) + ' ';
  }
  const boost::json::value* const tags = point.if_contains("tags");
  if (tags == nullptr || !tags->is_object()) return key;
  std::vector<std::string> sorted;
  for (const auto& [name, value] : tags->get_object()) {
    sorted.push_back(boost::json::serialize(name) + boost::json::serialize(value));
  }
  std::ranges::sort(sorted);
  for (const std::string& tag : sorted) key += tag;
  return key;
}

// Finds the points that an answer names.
class FailedPoints {
 public:
  explicit FailedPoints(const Body& body) : body_(body) {
    boost::system::error_code error;
    const boost::json::value points = parse_answer(body.json, error);  // to compare with one
    for (const boost::json::value& point : points.as_array()) {
      by_key_[key_of(point.as_object())].push_back(next_++);
    }
  }

  // The line of the point. Answers name equal points in the order of the body. Nothing if the body
  // has no such point.
  [[nodiscard]] std::optional<std::uint32_t> line_of(const boost::json::value* datapoint) {
    if (datapoint == nullptr || !datapoint->is_object()) return std::nullopt;
    const auto found = by_key_.find(key_of(datapoint->get_object()));
    if (found == by_key_.end() || found->second.empty()) return std::nullopt;
    const std::size_t at = found->second.front();
    found->second.pop_front();
    return body_.lines[at];
  }

 private:
  const Body& body_;
  std::unordered_map<std::string, std::deque<std::size_t>> by_key_;  // to indexes in the body
  std::size_t next_ = 0;
};

// In order, and one of each line and reason.
std::vector<ingest::RefusedLine> merged(std::vector<ingest::RefusedLine> refused) {
  const auto key = [](const ingest::RefusedLine& one) {
    return std::tie(one.line, one.reason, one.passes);
  };
  std::ranges::sort(refused, [&key](const ingest::RefusedLine& a, const ingest::RefusedLine& b) {
    return key(a) < key(b);
  });
  std::vector<ingest::RefusedLine> made;
  for (ingest::RefusedLine& one : refused) {
    if (!made.empty() && key(made.back()) == key(one)) {
      made.back().points += one.points;
    } else {
      made.push_back(std::move(one));
    }
  }
  return made;
}

// Whether an answer of success that names no failures is one of /api/put.
bool reports_success(const HttpReply& reply, const boost::json::value& answer) {
  constexpr unsigned kNoContent = 204;
  if (reply.status == kNoContent) return true;
  const boost::json::object* const object = answer.if_object();
  if (object == nullptr || !object->contains("success")) return false;
  const boost::json::value* const failed = object->if_contains("failed");
  return failed != nullptr && failed->is_int64() && failed->get_int64() == 0;
}

class UrlPart final : public ImportPart {
 public:
  UrlPart(const Peer& peer, const ingest::ImportFormat& format, const ingest::PointRules& rules,
          std::size_t body_bytes_max)
      : peer_(peer), builder_(format, rules, body_bytes_max) {}

  std::uint64_t parse(const ingest::ImportText& text) override { return builder_.add(text); }
  void add(const std::vector<ingest::SeriesPoints>& points) override { builder_.add(points); }

  Result<ingest::Imported> store() override {
    ingest::Imported imported{.points = 0, .refused = builder_.refused()};
    for (const Body& body : builder_.bodies()) TRY_VOID(send(body, imported));
    imported.refused = merged(std::move(imported.refused));
    return imported;
  }
  [[nodiscard]] std::chrono::milliseconds pause_asked() const override { return pause_asked_; }

 private:
  Result<void> send(const Body& body, ingest::Imported& imported) {
    // OpenTSDB answers without `sync` before its points are in HBase.
    HttpRequest request{.target = fmt::format("{}?details=true&sync=true", kPutPath),
                        .body = body.json};
    TRY(const HttpReply reply, run_here(send_http(peer_, std::move(request), HttpLimits())));
    pause_asked_ = std::max(pause_asked_, retry_after(reply));
    boost::system::error_code error;
    const boost::json::value answer = parse_answer(reply.body, error);
    const boost::json::value* const errors =
        error || !answer.is_object() ? nullptr : answer.get_object().if_contains("errors");
    const std::size_t failures =
        errors == nullptr || !errors->is_array() ? 0 : errors->get_array().size();
    if (failures == 0) {
      if (reply.status / 100 != 2) return refusal_of(peer_, kPutPath, reply);
      if (!reports_success(reply, answer)) return unexpected_answer(peer_, kPutPath, reply);
      imported.points += body.lines.size();
      return {};
    }
    // A server that could not store some now says so by its status; OpenTSDB by the reason.
    FailedPoints failed(body);
    for (const boost::json::value& entry : errors->get_array()) {
      const boost::json::object* const object = entry.if_object();
      const auto member = [object](std::string_view name) {
        return object == nullptr ? nullptr : object->if_contains(name);
      };
      std::string reason(text_of(member("error")));
      const bool temporary = is_temporary(reply) || reason.contains("Storage exception");
      imported.refused.push_back(
          {.line = failed.line_of(member("datapoint")).value_or(body.lines.front()),
           .reason = std::move(reason),
           .passes = temporary});
    }
    imported.points += body.lines.size() - std::min(failures, body.lines.size());
    return {};
  }

  const Peer& peer_;
  BodyBuilder builder_;
  std::chrono::milliseconds pause_asked_{0};
};

}  // namespace

Result<std::unique_ptr<UrlTarget>> UrlTarget::open(Peer peer, ingest::ImportFormat format,
                                                   const ingest::IngestOptions& options) {
  TRY_VOID(get_object(peer, kVersionPath));
  TRY(const boost::json::value config, get_object(peer, kConfigPath));
  const std::size_t body_bytes_max = body_limit(config);
  return std::unique_ptr<UrlTarget>(
      new UrlTarget(std::move(peer), std::move(format), options, body_bytes_max));
}

std::unique_ptr<ImportPart> UrlTarget::new_part() {
  return std::make_unique<UrlPart>(peer_, format_, rules_, body_bytes_max_);
}

}  // namespace halite::app
