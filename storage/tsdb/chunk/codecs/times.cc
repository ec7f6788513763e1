#include "storage/tsdb/chunk/codecs/times.h"

#include <algorithm>
#include <vector>

namespace halite::storage::chunk {
namespace {

// Above this number of runs a column of integers may be smaller; fewer runs are faster to read.
constexpr std::size_t kRunsAlways = 8;

struct StepRun {
  std::uint64_t count = 0;
  std::uint64_t step = 0;
};

// The runs of equal steps, at most `most` + 1.
std::vector<StepRun> step_runs(std::span<const TimestampMs> times, std::size_t most) {
  std::vector<StepRun> runs;
  for (std::size_t i = 1; i < times.size() && runs.size() <= most; ++i) {
    const auto step =
        static_cast<std::uint64_t>(times[i]) - static_cast<std::uint64_t>(times[i - 1]);
    if (runs.empty() || runs.back().step != step) runs.push_back({0, step});
    ++runs.back().count;
  }
  return runs;
}

void append_runs(const std::vector<StepRun>& runs, Bytes& out) {
  append_varint(out, runs.size());
  for (const StepRun& run : runs) {
    append_varint(out, run.count);
    append_varint(out, run.step);
  }
}

void read_runs(Reader& from, TimestampMs first, std::span<TimestampMs> times) {
  times[0] = first;
  auto time = static_cast<std::uint64_t>(first);
  std::size_t i = 1;
  for (std::uint64_t runs = from.varint(); runs > 0 && from.ok(); --runs) {
    const std::uint64_t count = from.varint();
    const std::uint64_t step = from.varint();
    if (count == 0 || count > times.size() - i) return from.set_bad();
    for (std::uint64_t k = 0; k < count; ++k) {
      time += step;
      times[i++] = static_cast<TimestampMs>(time);
    }
  }
  if (i != times.size()) from.set_bad();
}

// 0 for a single point, or if the reader becomes bad.
std::uint64_t constant_step(Reader& from, TimestampMs first, TimestampMs last, std::size_t count) {
  const std::uint64_t span = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first);
  const std::uint64_t steps = count - 1;
  const std::uint64_t step = steps > 0 ? span / steps : 0;
  if ((steps > 0 && (span % steps != 0 || step == 0)) || (steps == 0 && span > 0) || last < first) {
    from.set_bad();
    return 0;
  }
  return step;
}

void read_constant_step(Reader& from, TimestampMs first, TimestampMs last, IndexRange part,
                        std::span<TimestampMs> times) {
  const std::uint64_t step = constant_step(from, first, last, times.size());
  if (!from.ok()) return;
  std::uint64_t time = static_cast<std::uint64_t>(first) + part.begin * step;
  for (std::size_t i = part.begin; i < part.end; ++i, time += step) {
    times[i] = static_cast<TimestampMs>(time);
  }
}

}  // namespace

TimeCodec append_times(std::span<const TimestampMs> times, bool small, IntScratch& scratch,
                       Bytes& out) {
  const std::size_t most = kRunsAlways + times.size() / 32;
  const std::vector<StepRun> runs = step_runs(times, most);
  if (runs.size() <= 1) return TimeCodec::kConstantStep;
  if (runs.size() <= kRunsAlways) {
    append_runs(runs, out);
    return TimeCodec::kRuns;
  }
  const std::span numbers(reinterpret_cast<const std::uint64_t*>(times.data()), times.size());
  const std::size_t begin = out.size();
  append_ints(numbers, small, scratch, out);
  if (runs.size() > most) return TimeCodec::kInts;
  Bytes as_runs;
  append_runs(runs, as_runs);
  if (as_runs.size() >= out.size() - begin) return TimeCodec::kInts;
  out.resize(begin);
  out.append(as_runs);
  return TimeCodec::kRuns;
}

void read_times(Reader& from, TimeCodec codec, TimestampMs first, TimestampMs last,
                IntScratch& scratch, std::span<TimestampMs> times) {
  switch (codec) {
    case TimeCodec::kConstantStep:
      read_constant_step(from, first, last, {.begin = 0, .end = times.size()}, times);
      break;
    case TimeCodec::kRuns:
      read_runs(from, first, times);
      break;
    case TimeCodec::kInts:
      read_ints(from, scratch, {reinterpret_cast<std::uint64_t*>(times.data()), times.size()});
      break;
  }
  if (!from.ok() || codec == TimeCodec::kConstantStep) return;
  bool ascending = times.front() == first && times.back() == last;
  for (std::size_t i = 1; i < times.size(); ++i) ascending &= times[i - 1] < times[i];
  if (!ascending) from.set_bad();
}

IndexRange read_times_in(Reader& from, TimeCodec codec, TimestampMs first, TimestampMs last,
                         TimeRange range, IntScratch& scratch, std::span<TimestampMs> times) {
  IndexRange part;
  if (codec != TimeCodec::kConstantStep) {
    read_times(from, codec, first, last, scratch, times);
    if (!from.ok()) return {.begin = 0, .end = 0};
    const auto index_of = [times](TimestampMs time) {
      return static_cast<std::size_t>(std::ranges::lower_bound(times, time) - times.begin());
    };
    part = {.begin = index_of(range.begin), .end = index_of(range.end)};
    return part;
  }
  const std::uint64_t step = constant_step(from, first, last, times.size());
  if (!from.ok()) return {.begin = 0, .end = 0};
  const auto index_of = [&](TimestampMs time) -> std::size_t {
    if (time <= first) return 0;
    if (time > last) return times.size();
    return static_cast<std::size_t>((static_cast<std::uint64_t>(time - first) + step - 1) / step);
  };
  part = {.begin = index_of(range.begin), .end = index_of(range.end)};
  read_constant_step(from, first, last, part, times);
  return part;
}

}  // namespace halite::storage::chunk
