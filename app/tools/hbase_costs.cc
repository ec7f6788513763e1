#include "app/tools/hbase_costs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace halite::app {
namespace {

// Measured with these numbers of tags and of points an hour.
constexpr double kFewTags = 2;
constexpr double kManyTags = 8;
constexpr double kShortRow = 36;
constexpr double kLongRow = 360;

struct Measured {
  PointCosts short_row;  // with kFewTags
  PointCosts many_tags;  // short rows with kManyTags
  PointCosts long_row;   // with kFewTags
};

// In the order of WriteForm; each row: daemon, put, flush, rewrite; log, memstore, stored.
// Memstores of appends are assumed to be those of backfill.
constexpr std::array<Measured, kWriteForms.size()> kMeasured = {{
    {.short_row = {1.31, 8.2, 1.7, 2.1, 49, 136, 3.3},
     .many_tags = {2.17, 8.7, 1.2, 1.6, 85, 176, 4.3},
     .long_row = {0.53, 2.5, 1.1, 2.0, 49, 136, 3.6}},
    {.short_row = {1.28, 6.1, 1.6, 2.0, 57, 144, 3.4},
     .many_tags = {2.17, 9.5, 2.4, 2.8, 93, 184, 4.3},
     .long_row = {0.53, 2.0, 2.3, 2.6, 57, 144, 4.2}},
    {.short_row = {0.56, 40.8, 3.3, 5.6, 37, 8, 2.0},
     .many_tags = {0.83, 30.6, 2.8, 6.4, 52, 9, 2.2},
     .long_row = {0.28, 8.1, 2.5, 7.8, 15, 5, 2.8}},
    {.short_row = {0.39, 3.1, 0.8, 2.8, 5.5, 7.8, 1.1},
     .many_tags = {0.47, 2.1, 0.9, 2.1, 6.6, 8.7, 1.4},
     .long_row = {0.19, 0.8, 0.7, 1.3, 4.3, 4.4, 1.1}},
}};

constexpr std::array<double PointCosts::*, 7> kFields = {
    &PointCosts::daemon_s, &PointCosts::put_s,    &PointCosts::flush_s, &PointCosts::rewrite_s,
    &PointCosts::log,      &PointCosts::memstore, &PointCosts::stored};

// Between the values for few and for many tags; never less than that for few.
double for_tags(double few, double many, double tags) {
  const double per_tag = std::max(0.0, (many - few) / (kManyTags - kFewTags));
  return few + per_tag * std::max(0.0, tags - kFewTags);
}

struct Selection {
  std::ptrdiff_t begin = 0;
  std::ptrdiff_t end = 0;  // 0 = no files
  double bytes = 0;
  [[nodiscard]] std::ptrdiff_t files() const { return end - begin; }
};

// Neighbouring files to merge. Prefers many files, then few bytes.
Selection select_files(const std::vector<double>& files, double always_bytes) {
  constexpr std::ptrdiff_t kFilesMin = 3;  // hbase.hstore.compaction.min and .max
  constexpr std::ptrdiff_t kFilesMax = 10;
  constexpr double kRatio = 1.2;           // hbase.hstore.compaction.ratio
  constexpr std::size_t kFilesStuck = 16;  // hbase.hstore.blockingStoreFiles
  constexpr double kBetterByAtLeast = 1.05;
  const bool stuck = files.size() >= kFilesStuck;
  const auto count = static_cast<std::ptrdiff_t>(files.size());
  Selection best;
  Selection smallest;
  for (std::ptrdiff_t begin = 0; begin < count; ++begin) {
    Selection next{.begin = begin, .end = begin, .bytes = 0};
    double largest = 0;
    while (next.end < std::min(count, begin + kFilesMax)) {
      const double file = files[static_cast<std::size_t>(next.end++)];
      next.bytes += file;
      largest = std::max(largest, file);
      if (next.files() < kFilesMin) continue;
      if (smallest.end == 0 || next.bytes < smallest.bytes) smallest = next;
      const bool fits = largest <= (next.bytes - largest) * kRatio;
      if (next.bytes >= always_bytes && !fits) continue;
      const auto quality = [](const Selection& one) {
        return static_cast<double>(one.files()) / one.bytes;
      };
      const bool more =
          next.files() > best.files() || (next.files() == best.files() && next.bytes < best.bytes);
      const bool better =
          best.end != 0 && stuck ? quality(next) > quality(best) * kBetterByAtLeast : more;
      if (better) best = next;
    }
  }
  return best.end == 0 && stuck ? smallest : best;
}

}  // namespace

PointCosts point_costs(WriteForm form, double points_per_hour, double tags) {
  const Measured& measured = kMeasured[static_cast<std::size_t>(form)];
  const bool is_short = points_per_hour < std::sqrt(kShortRow * kLongRow);
  const PointCosts& row = is_short ? measured.short_row : measured.long_row;
  PointCosts costs;
  for (const auto field : kFields) {
    const double more = for_tags(measured.short_row.*field, measured.many_tags.*field, tags) -
                        measured.short_row.*field;
    costs.*field = row.*field + more;
  }
  return costs;
}

double series_bytes(double tags) { return for_tags(1080, 1655, tags); }

NewSeriesCosts new_series_costs(double tags) {
  return {.daemon_us = for_tags(350, 404, tags), .server_us = for_tags(1500, 1500, tags)};
}

double rewrites_of_byte(double file_bytes, double region_bytes, double always_bytes) {
  constexpr double kFlushesMax = 20'000;  // more hardly change the mean
  const double flushes = std::clamp(std::floor(region_bytes / file_bytes), 1.0, kFlushesMax);
  std::vector<double> files;
  double written = 0;
  for (double flush = 0; flush < flushes; ++flush) {
    files.push_back(file_bytes);
    for (;;) {
      const Selection chosen = select_files(files, always_bytes);
      if (chosen.end == 0) break;
      written += chosen.bytes;
      files[chosen.begin] = chosen.bytes;
      files.erase(files.begin() + chosen.begin + 1, files.begin() + chosen.end);
    }
  }
  return written / (flushes * file_bytes);
}

}  // namespace halite::app
