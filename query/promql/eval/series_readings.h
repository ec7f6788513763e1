// What a reader of shards makes of the blocks of a series: a row, a part of a group, or samples. A
// Reading is made from its Source for each shard. begin() makes the State of a series, add() takes
// a block, finish() ends it. The states are kept only if kKeepsStates. begin_bytes() is what
// begin() may allocate, bytes() what the reading holds, bytes(state) what a state holds.
//
//   Threads  Not thread-safe.
//
// Over 140 lines because the three do the same for the one who reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "query/promql/eval/column_reader.h"
#include "query/promql/eval/group_fold.h"
#include "query/promql/eval/series_windows.h"
#include "query/promql/eval/values.h"
#include "query/promql/tree.h"
#include "storage/api/point_store.h"

namespace halite::query::promql {

// A row of each series.
struct ColumnReading {
  static constexpr bool kKeepsStates = true;
  using Source = const WindowPlan*;
  struct State {
    Row row;
    SeriesProgress progress;
    bool has_values = false;
  };

  explicit ColumnReading(Source source) : plan(source), windows(*source) {}

  [[nodiscard]] State begin(const storage::Series& series) const {
    return {.row = {.labels = Labels::of(series),
                    .values = std::vector<double>(plan->steps.count, kAbsent)},
            .progress = {}};
  }
  void add(State& state, const storage::Block& block) {
    const std::size_t before = state.progress.step;
    windows.add(state.progress, block, state.row.values);
    note_values(state, before);
  }
  void finish(State& state) {
    const std::size_t before = state.progress.step;
    windows.finish(state.progress, state.row.values);
    note_values(state, before);
  }
  static void note_values(State& state, std::size_t from) {
    for (std::size_t i = from; i < state.progress.step && !state.has_values; ++i) {
      state.has_values = is_present(state.row.values[i]);
    }
  }
  [[nodiscard]] std::int64_t begin_bytes() const { return column_bytes(plan->steps.count); }
  static std::int64_t bytes() { return 0; }
  static std::int64_t bytes(const State& state) {
    return row_bytes(state.row.labels, state.row.values.size()) +
           static_cast<std::int64_t>(state.progress.bytes());
  }

  const WindowPlan* plan;
  SeriesWindows windows;
};

// Groups, and no row of any series.
struct GroupReading {
  static constexpr bool kKeepsStates = false;
  struct Source {
    const WindowPlan* plan;
    const Aggregation* aggregation;
  };
  struct State {
    std::size_t group = 0;
    SeriesProgress progress;
  };

  explicit GroupReading(Source source)
      : drops_name(source.plan->function != nullptr && !source.plan->function->keeps_name),
        windows(*source.plan),
        column(source.plan->steps.count),
        fold(*source.aggregation, source.plan->steps) {}

  [[nodiscard]] State begin(const storage::Series& series) {
    collides |= drops_name && name_labels(series) > 1;
    return {.group = fold.group_of(series, drops_name), .progress = {}};
  }
  void add(State& state, const storage::Block& block) {
    const std::size_t before = state.progress.step;
    windows.add(state.progress, block, column);
    fold_from(state, before);
  }
  void finish(State& state) {
    const std::size_t before = state.progress.step;
    windows.finish(state.progress, column);
    fold_from(state, before);
  }
  void fold_from(const State& state, std::size_t from) {
    fold.add(state.group, from,
             std::span<const double>(column).subspan(from, state.progress.step - from));
  }
  [[nodiscard]] std::int64_t begin_bytes() const { return fold.group_bytes(); }
  [[nodiscard]] std::int64_t bytes() const { return fold.bytes(); }
  static std::int64_t bytes(const State& state) {
    return static_cast<std::int64_t>(sizeof(State) + state.progress.bytes());
  }

  const bool drops_name;
  SeriesWindows windows;
  std::vector<double> column;
  GroupFold fold;
  bool collides = false;  // two series may have the same labels without the name
};

// The samples of each series.
struct SampleReading {
  static constexpr bool kKeepsStates = true;
  struct Source {};
  using State = MatrixRow;

  explicit SampleReading(Source) {}

  static State begin(const storage::Series& series) {
    State state;
    state.labels = Labels::of(series);
    return state;
  }
  static void add(State& state, const storage::Block& block) {
    for (std::size_t i = 0; i < block.size(); ++i) {
      const ValueBits bits = block.values[i];
      if (block.floats[i] && bits == kStaleMarker) continue;
      state.times.push_back(block.times[i]);
      state.values.push_back(block.floats[i] ? as_double(bits)
                                             : static_cast<double>(as_integer(bits)));
    }
  }
  static void finish(State&) {}
  static std::int64_t begin_bytes() { return 0; }
  static std::int64_t bytes() { return 0; }
  static std::int64_t bytes(const State& state) {
    return row_bytes(state.labels, 0) +
           static_cast<std::int64_t>(state.times.capacity() *
                                     (sizeof(TimestampMs) + sizeof(double)));
  }
};

}  // namespace halite::query::promql
