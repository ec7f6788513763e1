// What a point costs on HBase, as bench/hbase_scale_bench.py measured it: the base of
// `halite hbase plan`. docs/scaling.md has the run.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace halite::app {

// How points are written. docs/operate/hbase.md explains the forms.
enum class WriteForm : std::uint8_t { kCells, kRing, kAppends, kBackfill };

inline constexpr std::array<std::string_view, 4> kWriteForms = {"cells", "ring", "appends",
                                                                "backfill"};  // as in WriteForm

struct PointCosts {
  // CPU seconds of a million points
  double daemon_s = 0;
  double put_s = 0;      // region server: until the answer
  double flush_s = 0;    // region server: memstores to files
  double rewrite_s = 0;  // region server: each time that a compaction writes them again
  // Bytes of a point
  double log = 0;
  double memstore = 0;  // in a region server's heap
  double stored = 0;    // in compacted files (GZ, DIFF), before replication
};

// Of rows with `points_per_hour` points of a series. Rows like the nearest measured ones, and
// linear in the number of tags.
[[nodiscard]] PointCosts point_costs(WriteForm form, double points_per_hour, double tags);

// Memory of a daemon for a series that it knows.
[[nodiscard]] double series_bytes(double tags);
// CPU microseconds for the first point of a series, with a new tag value: daemon and region
// servers.
struct NewSeriesCosts {
  double daemon_us = 0;
  double server_us = 0;
};
[[nodiscard]] NewSeriesCosts new_series_costs(double tags);

// How often minor compactions write a byte again while a region grows to `region_bytes` by files of
// `file_bytes`. Selects files as HBase does (ExploringCompactionPolicy with its defaults).
// `always_bytes`: files are merged whatever their sizes as long as they have fewer bytes together.
[[nodiscard]] double rewrites_of_byte(double file_bytes, double region_bytes, double always_bytes);

}  // namespace halite::app
