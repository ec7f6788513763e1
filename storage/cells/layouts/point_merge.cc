#include "storage/cells/layouts/point_merge.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace halite::storage {

void PointMerge::add(TimestampMs time, ValueBits value, std::uint8_t flags, TimestampMs cell_time) {
  if (out_.times.size() > begin_ && out_.times.back() >= time) in_order_ = false;
  out_.times.push_back(time);
  out_.values.push_back(value);
  out_.flags.push_back(flags);
  cell_times_.push_back(cell_time);
}

void PointMerge::finish() {
  if (in_order_) return;
  std::vector<std::size_t> order(cell_times_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [this](std::size_t a, std::size_t b) {
    const TimestampMs time_a = out_.times[begin_ + a];
    const TimestampMs time_b = out_.times[begin_ + b];
    if (time_a != time_b) return time_a < time_b;
    if (cell_times_[a] != cell_times_[b]) return cell_times_[a] < cell_times_[b];
    return a < b;
  });

  RowPoints sorted;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::size_t at = begin_ + order[i];
    const bool last_of_its_time =
        i + 1 == order.size() || out_.times[begin_ + order[i + 1]] != out_.times[at];
    if (!last_of_its_time) continue;
    sorted.times.push_back(out_.times[at]);
    sorted.values.push_back(out_.values[at]);
    sorted.flags.push_back(out_.flags[at]);
  }
  const auto replace = [this](auto& column, const auto& with) {
    column.resize(begin_);
    column.insert(column.end(), with.begin(), with.end());
  };
  replace(out_.times, sorted.times);
  replace(out_.values, sorted.values);
  replace(out_.flags, sorted.flags);
}

}  // namespace halite::storage
