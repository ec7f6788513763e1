// A fuzzed row: how the bytes of an input become a key and cells.
//
//   shape(1) · key length(1) · key · (time(1) · qualifier length(1) · qualifier · value length(1) ·
//   value)... ; lengths give way to what is left.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <tuple>
#include <vector>

#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

struct FuzzedRow {
  std::uint8_t shape = 0;  // the target's choice of options
  Bytes key;
  std::vector<Cell> cells;  // in qualifier order, none twice, as a table hands them out
};

inline FuzzedRow fuzzed_row(const std::uint8_t* data, std::size_t size) {
  BytesView rest(reinterpret_cast<const char*>(data), size);
  const auto byte = [&rest]() -> std::uint8_t {
    if (rest.empty()) return 0;
    const auto first = static_cast<std::uint8_t>(rest.front());
    rest.remove_prefix(1);
    return first;
  };
  const auto piece = [&rest, &byte]() {
    const std::size_t length = byte();
    Bytes taken(rest.substr(0, length));
    rest.remove_prefix(taken.size());
    return taken;
  };
  FuzzedRow row;
  row.shape = byte();
  row.key = piece();
  while (!rest.empty()) {
    Cell cell;
    cell.time = byte();
    cell.qualifier = piece();
    cell.value = piece();
    row.cells.push_back(std::move(cell));
  }
  std::ranges::sort(row.cells, {}, [](const Cell& cell) {
    return std::tie(cell.qualifier, cell.value, cell.time);
  });
  const auto twice = std::ranges::unique(row.cells, {}, &Cell::qualifier);
  row.cells.erase(twice.begin(), twice.end());
  return row;
}

// What every decoded row promises. Points written again must read the same.
inline void check_row(const RowLayout& layout, const RowId& id, const std::vector<Cell>& cells,
                      TimeRange range) {
  RowPoints points;
  if (const auto decoded = layout.decode(id, as_refs(cells), range, points); !decoded) {
    if (decoded.error().code != Errc::kCorruption || decoded.error().message.empty()) std::abort();
    return;
  }
  if (points.values.size() != points.times.size() || points.flags.size() != points.times.size()) {
    std::abort();
  }
  for (std::size_t i = 0; i < points.times.size(); ++i) {
    const TimestampMs time = points.times[i];
    if (time < range.begin || time >= range.end) std::abort();
    if (i > 0 && points.times[i - 1] >= time) std::abort();
    const PointCell again = layout.point_cell(time, points.values[i], points.flags[i]);
    const CellRef cell{again.qualifier, again.value, 1};
    RowPoints one;
    if (!layout.decode(id, {&cell, 1}, range, one)) std::abort();
    if (one.times != std::vector{time} || one.values != std::vector{points.values[i]} ||
        one.flags != std::vector{points.flags[i]}) {
      std::abort();
    }
  }
}

}  // namespace halite::storage
