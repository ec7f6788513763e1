// What the sources that read a server share: requests, and the series of the answers.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "app/bulk/point_source.h"
#include "app/bulk/store_source.h"
#include "app/client/http_client.h"
#include "common/units.h"

namespace halite::app {

// The body of a successful answer. Asks again, for some minutes, while the server is not available.
// kTooLarge: a shorter time may be answered.
[[nodiscard]] Result<std::string> ask(const Peer& peer, const HttpRequest& request);
[[nodiscard]] Result<boost::json::value> ask_json(const Peer& peer, const HttpRequest& request);

[[nodiscard]] std::unexpected<Error> unexpected_answer(std::string_view missing);

// The tags of an object with their names and values, in order.
[[nodiscard]] Result<std::vector<Tag>> read_tags(const boost::json::value* tags);

// Adds the points of several answers about one metric: a series may be in more than one.
class SeriesSet {
 public:
  explicit SeriesSet(std::size_t points_max) : points_max_(points_max) {}

  Result<void> add(SeriesName name, std::vector<ingest::PointBits> points) {
    if (points.empty() || !seen_.insert(name).second) return {};
    count_ += points.size();
    if (count_ > points_max_) return fail(Errc::kTooLarge, "too many points for one slice");
    series_.push_back({.series = std::move(name), .points = std::move(points)});
    return {};
  }
  std::vector<ingest::SeriesPoints> take() {
    std::ranges::sort(series_, {}, &ingest::SeriesPoints::series);
    return std::move(series_);
  }

 private:
  const std::size_t points_max_;
  std::size_t count_ = 0;
  std::set<SeriesName> seen_;
  std::vector<ingest::SeriesPoints> series_;
};

// Sends one request for each match.
class ServerSource : public PointSource {
 public:
  ServerSource(Peer peer, std::vector<SourceMatch> matches)
      : peer_(std::move(peer)), matches_(std::move(matches)) {}

  Result<std::vector<ingest::SeriesPoints>> read(const SourceSlice& slice,
                                                 std::size_t points_max) override;
  // A server computes a whole answer before the client can see that it is too large.
  [[nodiscard]] SliceRanges ranges() const override {
    return {.min = 1000, .first = kHourMs, .max = 32 * kDayMs};
  }
  [[nodiscard]] bool has_parts() const override { return false; }

 protected:
  // Those names in an array that match.
  [[nodiscard]] Result<std::vector<std::string>> wanted_metrics(
      const boost::json::value* all) const;
  virtual Result<void> read_match(const SourceSlice& slice,
                                  const std::vector<storage::TagFilter>& filters,
                                  SeriesSet& to) = 0;
  [[nodiscard]] const Peer& peer() const { return peer_; }
  [[nodiscard]] const std::vector<SourceMatch>& matches() const { return matches_; }

 private:
  const Peer peer_;
  const std::vector<SourceMatch> matches_;
};

}  // namespace halite::app
