#include "query/promql/eval/select.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <xxhash.h>

#include "query/promql/eval/merge.h"

namespace halite::query::promql {
namespace {

struct Entry {
  double value;  // the greater the better; of bottomk with the other sign
  std::uint32_t row;
};

bool worse(const Entry& a, const Entry& b) { return std::isnan(a.value) || a.value < b.value; }

// The best entries of a group at a step, the worst of them first: a heap that moves entries as
// Go's container/heap does, which decides which of equal values stay.
class Best {
 public:
  Best(Entry* entries, std::uint32_t& size, std::size_t size_max)
      : entries_(entries), size_(size), size_max_(size_max) {}

  void add(const Entry& entry) {
    if (size_ < size_max_) {
      entries_[size_++] = entry;
      rise(size_ - 1);
      return;
    }
    const double worst = entries_[0].value;
    if (worst < entry.value || (std::isnan(worst) && !std::isnan(entry.value))) {
      entries_[0] = entry;
      sink();
    }
  }

 private:
  void rise(std::size_t at) {
    while (at > 0) {
      const std::size_t parent = (at - 1) / 2;
      if (!worse(entries_[at], entries_[parent])) return;
      std::swap(entries_[at], entries_[parent]);
      at = parent;
    }
  }
  void sink() {
    std::size_t at = 0;
    while (2 * at + 1 < size_) {
      std::size_t child = 2 * at + 1;
      if (child + 1 < size_ && worse(entries_[child + 1], entries_[child])) ++child;
      if (!worse(entries_[child], entries_[at])) return;
      std::swap(entries_[at], entries_[child]);
      at = child;
    }
  }

  Entry* entries_;
  std::uint32_t& size_;
  std::size_t size_max_;
};

// The best entries of all groups at some steps.
class Selection {
 public:
  Selection(const std::vector<std::uint32_t>& groups, std::size_t count, std::size_t kept_max)
      : sizes_(count * kStepsTogether), floors_(count * kStepsTogether), begins_(count + 1) {
    for (const std::uint32_t group : groups) ++begins_[group + 1];
    for (std::size_t g = 0; g < count; ++g) {
      begins_[g + 1] = begins_[g] + std::min(begins_[g + 1], kept_max) * kStepsTogether;
    }
    entries_.resize(begins_.back());
  }

  void clear() {
    std::ranges::fill(sizes_, 0);
    std::ranges::fill(floors_, kNoFloor);
  }
  // For each step together: values up to it do not get in. NaN: no value is too small.
  [[nodiscard]] const double* floors(std::uint32_t group) const {
    return floors_.data() + group * kStepsTogether;
  }
  void add(std::uint32_t group, std::size_t step, std::size_t size_max, const Entry& entry) {
    if (size_max == 0) return;
    Entry* const entries = at(group, step);
    std::uint32_t& size = sizes_[group * kStepsTogether + step];
    Best(entries, size, size_max).add(entry);
    if (size == size_max) floors_[group * kStepsTogether + step] = entries->value;
  }
  [[nodiscard]] std::size_t groups() const { return begins_.size() - 1; }
  [[nodiscard]] std::span<Entry> of(std::size_t group, std::size_t step) {
    return {at(group, step), sizes_[group * kStepsTogether + step]};
  }

 private:
  [[nodiscard]] Entry* at(std::size_t group, std::size_t step) {
    const std::size_t capacity = (begins_[group + 1] - begins_[group]) / kStepsTogether;
    return entries_.data() + begins_[group] + capacity * step;
  }

  static constexpr double kNoFloor = std::numeric_limits<double>::quiet_NaN();

  std::vector<std::uint32_t> sizes_;
  std::vector<double> floors_;
  std::vector<std::size_t> begins_;  // of each group among the entries
  std::vector<Entry> entries_;
};

// Of the only step: each group's rows, the best first, NaN last.
Vector in_order(Vector& input, Selection& selection) {
  Vector result{.rows = {}, .ordered = true};
  for (std::size_t g = 0; g < selection.groups(); ++g) {
    const std::span<Entry> entries = selection.of(g, 0);
    std::vector<std::size_t> order(entries.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
      const double x = entries[a].value;
      const double y = entries[b].value;
      if (std::isnan(x) != std::isnan(y)) return std::isnan(y);
      return x > y || (!(x < y) && a < b);
    });
    for (const std::size_t at : order) {
      result.rows.push_back(std::move(input.rows[entries[at].row]));
    }
  }
  return result;
}

// At which steps each row was selected. Most rows never are, and their columns are not touched.
class KeptSteps {
 public:
  KeptSteps(std::size_t rows, std::size_t steps)
      : batches_((steps + kStepsTogether - 1) / kStepsTogether), bits_(rows * batches_) {}

  // The selection of the steps from `begin` on.
  void add(Selection& selection, std::size_t begin, std::size_t width) {
    for (std::size_t g = 0; g < selection.groups(); ++g) {
      for (std::size_t s = 0; s < width; ++s) {
        for (const Entry& entry : selection.of(g, s)) {
          std::uint8_t& bits = bits_[entry.row * batches_ + begin / kStepsTogether];
          bits = static_cast<std::uint8_t>(bits | (1U << s));
        }
      }
    }
  }

  // Removes all else.
  void keep_only(std::vector<Row>& rows) const {
    std::size_t kept = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const std::span bits = std::span(bits_).subspan(r * batches_, batches_);
      if (std::ranges::all_of(bits, [](std::uint8_t one) { return one == 0; })) continue;
      std::vector<double>& values = rows[r].values;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if ((bits[i / kStepsTogether] >> i % kStepsTogether & 1U) == 0) values[i] = kAbsent;
      }
      if (kept != r) rows[kept] = std::move(rows[r]);
      ++kept;
    }
    rows.resize(kept);
  }

 private:
  std::size_t batches_;
  std::vector<std::uint8_t> bits_;  // for each row and batch of steps: a bit for each step
};

constexpr std::size_t kAhead = 16;  // rows, of which no column is in a cache

Vector select_best(Vector input, const std::vector<std::uint32_t>& groups, std::size_t group_count,
                   std::span<const std::size_t> counts, double sign, bool ordered) {
  Selection selection(groups, group_count, std::ranges::max(counts));
  KeptSteps kept(input.rows.size(), counts.size());
  for (std::size_t begin = 0; begin < counts.size(); begin += kStepsTogether) {
    const std::size_t width = std::min(kStepsTogether, counts.size() - begin);
    selection.clear();
    for (std::uint32_t r = 0; r < input.rows.size(); ++r) {
      if (r + kAhead < input.rows.size()) {
        __builtin_prefetch(input.rows[r + kAhead].values.data() + begin);
      }
      const double* values = input.rows[r].values.data() + begin;
      const double* floors = selection.floors(groups[r]);
      for (std::size_t s = 0; s < width; ++s) {
        if (sign * values[s] <= floors[s] || is_absent(values[s])) continue;
        selection.add(groups[r], s, counts[begin + s], {sign * values[s], r});
      }
    }
    if (ordered) return in_order(input, selection);
    kept.add(selection, begin, width);
  }
  kept.keep_only(input.rows);
  return input;
}

Vector select_first(Vector input, const std::vector<std::uint32_t>& groups, std::size_t group_count,
                    std::span<const std::size_t> counts) {
  std::vector<std::uint32_t> kept(group_count * counts.size());
  for (std::size_t r = 0; r < input.rows.size(); ++r) {
    std::uint32_t* of_group = kept.data() + groups[r] * counts.size();
    std::vector<double>& values = input.rows[r].values;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (is_absent(values[i])) continue;
      if (of_group[i] < counts[i]) {
        ++of_group[i];
      } else {
        values[i] = kAbsent;
      }
    }
  }
  input.ordered = false;
  remove_empty(input);
  return input;
}

void append_sized(std::string& to, std::string_view text) {
  constexpr std::size_t kShort = 255;
  const std::size_t size = text.size();
  if (size < kShort) {
    to += static_cast<char>(size);
  } else {
    to += static_cast<char>(kShort);
    for (const int shift : {0, 8, 16}) to += static_cast<char>(size >> shift & 0xFF);
  }
  to += text;
}

// From 0 to 1: that of Prometheus, so that both keep the same rows.
double hash_place(const Labels& labels, std::string& buffer) {
  buffer.clear();
  for (const Label& label : labels) {
    append_sized(buffer, label.name);
    append_sized(buffer, label.value);
  }
  return static_cast<double>(XXH64(buffer.data(), buffer.size(), 0)) /
         static_cast<double>(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace

Vector select_some(AggregateOp op, Vector input, RowGroups& groups,
                   std::span<const std::size_t> counts, bool ordered) {
  std::vector<std::uint32_t> of_rows;
  of_rows.reserve(input.rows.size());
  for (const Row& row : input.rows) of_rows.push_back(groups.of(row.labels));
  input.ordered = false;
  if (op == AggregateOp::kLimitk) {
    return select_first(std::move(input), of_rows, groups.count(), counts);
  }
  const double sign = op == AggregateOp::kTopk ? 1 : -1;
  return select_best(std::move(input), of_rows, groups.count(), counts, sign, ordered);
}

Vector select_ratio(Vector input, std::span<const double> ratios) {
  std::string buffer;
  for (Row& row : input.rows) {
    const double place = hash_place(row.labels, buffer);
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      const double ratio = ratios[i];
      const bool kept = ratio >= 0 ? place < ratio : place >= 1 + ratio;
      if (!kept) row.values[i] = kAbsent;
    }
  }
  input.ordered = false;
  remove_empty(input);
  return input;
}

}  // namespace halite::query::promql
