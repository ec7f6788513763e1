// A source of points in memory that says what was read.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/bulk/point_source.h"
#include "ingest/formats/number_text.h"

namespace halite::app {

class ScriptedSource final : public PointSource {
 public:
  SliceRanges slice_ranges = {.min = 1000, .first = 60'000, .max = 1'000'000'000};
  bool parts = true;
  // Asked before each read; an error ends it.
  std::function<std::optional<Error>(const SourceSlice&)> trouble;

  void add(const std::string& metric, const std::string& host, TimestampMs time, double value) {
    points_[metric][{.metric = metric, .tags = {{.key = "host", .value = host}}}][time] =
        ingest::double_point(time, double_bits(value));
  }
  void add(const std::string& metric, const std::string& host, ingest::PointBits point) {
    points_[metric][{.metric = metric, .tags = {{.key = "host", .value = host}}}][point.time] =
        point;
  }

  Result<std::vector<std::string>> metrics() override {
    std::vector<std::string> names;
    for (const auto& [name, series] : points_) names.push_back(name);
    return names;
  }

  Result<std::vector<ingest::SeriesPoints>> read(const SourceSlice& slice,
                                                 std::size_t points_max) override {
    // Threads overtake each other.
    if (slice.range.begin / 1000 % 16 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    {
      const std::lock_guard lock(mutex_);
      reads_.push_back(slice);
    }
    if (trouble) {
      if (const auto error = trouble(slice)) return std::unexpected(*error);
    }
    std::vector<ingest::SeriesPoints> found;
    const auto metric = points_.find(slice.metric);
    if (metric == points_.end()) return found;
    const std::size_t count = metric->second.size();
    std::size_t points = 0;
    std::size_t at = 0;
    for (const auto& [name, all] : metric->second) {
      const std::size_t index = at++;
      if (index < count * slice.part / slice.parts ||
          index >= count * (slice.part + 1) / slice.parts) {
        continue;
      }
      ingest::SeriesPoints series{.series = name, .points = {}};
      for (auto point = all.lower_bound(slice.range.begin);
           point != all.end() && point->first < slice.range.end; ++point) {
        series.points.push_back(point->second);
      }
      points += series.points.size();
      if (!series.points.empty()) found.push_back(std::move(series));
    }
    if (points > points_max) return fail(Errc::kTooLarge, "too many points");
    return found;
  }

  [[nodiscard]] SliceRanges ranges() const override { return slice_ranges; }
  [[nodiscard]] bool has_parts() const override { return parts; }

  // Of all series, one line a point: metric, host, time.
  [[nodiscard]] std::vector<std::string> all() const {
    std::vector<std::string> lines;
    for (const auto& [metric, series] : points_) {
      for (const auto& [name, points] : series) {
        for (const auto& [time, point] : points) lines.push_back(line_of(name, time));
      }
    }
    std::ranges::sort(lines);
    return lines;
  }
  static std::string line_of(const SeriesName& name, TimestampMs time) {
    return ingest::text_of(name) + " " + std::to_string(time);
  }

  [[nodiscard]] const std::vector<SourceSlice>& reads() const { return reads_; }
  void forget_reads() { reads_.clear(); }

 private:
  std::map<std::string, std::map<SeriesName, std::map<TimestampMs, ingest::PointBits>>> points_;
  std::mutex mutex_;
  std::vector<SourceSlice> reads_;  // guarded by mutex_
};

}  // namespace halite::app
