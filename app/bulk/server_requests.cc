#include "app/bulk/server_requests.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/client/server_answer.h"
#include "common/json/json_value.h"
#include "common/log.h"
#include "common/threads/run_here.h"

namespace halite::app {
namespace {

// The body of a successful answer.
Result<std::string> ask_once(const Peer& peer, HttpRequest request) {
  const std::string target = request.target;
  Result<HttpReply> reply = run_here(send_http(peer, std::move(request), HttpLimits()));
  // A shorter time may be answered in time.
  if (!reply && reply.error().code == Errc::kTimeout) reply.error().code = Errc::kTooLarge;
  if (!reply) return std::unexpected(std::move(reply).error());
  if (reply->status / 100 == 2) return std::move(reply->body);
  constexpr unsigned kTooLarge = 413;
  constexpr unsigned kTooManySamples = 422;
  constexpr unsigned kTooManyRequests = 429;
  Errc code = Errc::kInvalidArgument;
  if (reply->status == kTooLarge || reply->status == kTooManySamples) code = Errc::kTooLarge;
  if (reply->status == kTooManyRequests || reply->status / 100 == 5) code = Errc::kUnavailable;
  return fail(code, answer_text(peer, target, *reply));
}

}  // namespace

Result<std::string> ask(const Peer& peer, const HttpRequest& request) {
  constexpr int kAttempts = 9;
  std::chrono::seconds pause{1};
  for (int attempt = 1;; ++attempt) {
    Result<std::string> body = ask_once(peer, request);
    if (body || body.error().code != Errc::kUnavailable || attempt == kAttempts) return body;
    log::warn("the source is busy, trying again in {} s: {}", pause.count(), body.error().message);
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::seconds(60));
  }
}

Result<boost::json::value> ask_json(const Peer& peer, const HttpRequest& request) {
  TRY(const std::string body, ask(peer, request));
  boost::system::error_code error;
  boost::json::value value = parse_json_value(body, error);
  if (!error) return value;
  return fail(Errc::kUnavailable, fmt::format("the server's answer is not JSON: {}",
                                              std::string_view(body).substr(0, 100)));
}

std::unexpected<Error> unexpected_answer(std::string_view missing) {
  return fail(Errc::kUnavailable, fmt::format("the server's answer has no {}", missing));
}

Result<std::vector<Tag>> read_tags(const boost::json::value* tags) {
  if (tags == nullptr || !tags->is_object()) return unexpected_answer("tags");
  std::vector<Tag> read;
  for (const auto& [key, value] : tags->get_object()) {
    if (!value.is_string()) return unexpected_answer("text as a tag value");
    read.push_back({.key = std::string(key), .value = std::string(value.get_string())});
  }
  std::ranges::sort(read);
  return read;
}

Result<std::vector<ingest::SeriesPoints>> ServerSource::read(const SourceSlice& slice,
                                                             std::size_t points_max) {
  SeriesSet series(points_max);
  static const std::vector<SourceMatch> kAll(1);
  for (const SourceMatch& match : matches_.empty() ? kAll : matches_) {
    if (!matches_.empty() && !matches_metric(match, slice.metric)) continue;
    TRY_VOID(read_match(slice, match.filters, series));
  }
  return series.take();
}

Result<std::vector<std::string>> ServerSource::wanted_metrics(const boost::json::value* all) const {
  if (all == nullptr || !all->is_array()) return unexpected_answer("list of metrics");
  std::vector<std::string> metrics;
  for (const boost::json::value& name : all->get_array()) {
    if (!name.is_string()) continue;
    std::string metric(name.get_string());
    const bool wanted =
        matches_.empty() || std::ranges::any_of(matches_, [&metric](const SourceMatch& match) {
          return matches_metric(match, metric);
        });
    if (wanted) metrics.push_back(std::move(metric));
  }
  std::ranges::sort(metrics);
  return metrics;
}

}  // namespace halite::app
