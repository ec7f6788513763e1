#include "storage/tsdb/chunk/codecs/int_plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "storage/tsdb/chunk/codecs/packed_ints.h"

namespace halite::storage::chunk {
namespace {

// Sample sizes: all numbers up to this many, otherwise four windows with this many in total.
constexpr std::size_t kSampleSmall = 1024;
constexpr std::size_t kSampleQuick = 128;
constexpr std::size_t kWindows = 4;

// Columns of fewer numbers get plans of all transforms: the sizes of tables count too.
constexpr std::size_t kQuickMin = 128;
// Bits for each number by which a thin sample may misjudge a transform.
constexpr double kQuickError = 0.3;
// Packed numbers that a look at a few estimates to take this many times the bytes of the entropy
// coder do not come near these.
constexpr double kPackedError = 1.12;

// Whether runs of four numbers repeat in the sample more often than by chance.
bool has_repeats(std::span<const std::uint64_t> sample, double bits_a_number) {
  if (sample.size() < 64 || bits_a_number < 4) return false;
  constexpr std::uint64_t kOne = 0x9E3779B97F4A7C15u;  // arbitrary odd numbers
  constexpr std::uint64_t kTwo = 0xC2B2AE3D27D4EB4Fu;
  constexpr unsigned kLog2Places = 9;
  std::array<std::uint64_t, std::size_t{1} << kLog2Places> seen{};
  std::size_t again = 0;
  for (std::size_t i = 0; i + 4 <= sample.size(); ++i) {
    const std::uint64_t first = sample[i] + sample[i + 1] * kOne;
    const std::uint64_t second = sample[i + 2] + sample[i + 3] * kOne;
    const std::uint64_t hash = (first + second * kTwo) * kOne;
    std::uint64_t& place = seen[hash >> (64 - kLog2Places)];
    again += place == hash ? 1 : 0;
    place = hash;
  }
  return again * 8 > sample.size();
}

// Some windows of the numbers; differences are taken within each.
class Sample {
 public:
  Sample(std::span<const std::uint64_t> numbers, std::size_t most,
         std::vector<std::uint64_t>& memory)
      : memory_(memory) {
    const std::size_t windows = numbers.size() <= most ? 1 : kWindows;
    window_ = windows == 1 ? numbers.size() : most / kWindows;
    memory_.clear();
    for (std::size_t i = 0; i < windows; ++i) {
      const std::size_t room = numbers.size() - window_;
      const std::size_t begin = windows == 1 ? 0 : room * i / (windows - 1);
      const auto window = numbers.subspan(begin, window_);
      memory_.insert(memory_.end(), window.begin(), window.end());
    }
    scale_ = static_cast<double>(numbers.size()) / static_cast<double>(memory_.size());
  }

  [[nodiscard]] double scale() const { return scale_; }

  // The input of a coder after `order` calls of differ(): the windows without their first numbers.
  std::span<const std::uint64_t> residuals(std::size_t order,
                                           std::vector<std::uint64_t>& to) const {
    to.clear();
    for (std::size_t i = 0; i < memory_.size(); i += window_) {
      to.insert(to.end(), memory_.begin() + static_cast<std::ptrdiff_t>(i + order),
                memory_.begin() + static_cast<std::ptrdiff_t>(i + window_));
    }
    return to;
  }

  void differ_again() {
    for (std::size_t i = 0; i < memory_.size(); i += window_) {
      differ(std::span(memory_).subspan(i, window_));
    }
  }

 private:
  std::vector<std::uint64_t>& memory_;
  std::size_t window_ = 0;
  double scale_ = 1;
};

// Estimates the bytes of packed numbers from two blocks, or of those with one width from the range.
double glance_packed(std::span<const std::uint64_t> numbers) {
  const std::size_t bytes = estimate_packed(numbers.first(kPackedBlock)) +
                            estimate_packed(numbers.subspan(numbers.size() / 2, kPackedBlock));
  return std::min(static_cast<double>(bytes * numbers.size()) / (2 * kPackedBlock),
                  static_cast<double>(flat_size(numbers)));
}

Plan plan_residuals(std::span<const std::uint64_t> residuals, double scale, bool small,
                    EntropyScratch& scratch) {
  const double size = static_cast<double>(residuals.size()) * scale;
  Plan plan;
  if (all_equal(residuals)) {
    plan.bytes = 4;
    plan.coder = small ? Coder::kEntropy : Coder::kPacked;  // for numbers outside the sample
    plan.shape = {.zigzag = true, .centre = residuals[0]};
    return plan;
  }
  if (!small || size < static_cast<double>(kEntropyMin)) {
    plan.bytes = static_cast<double>(estimate_packed(residuals)) * scale;
    return plan;
  }
  plan.shape = choose_shape(residuals, scale, scratch);
  const double bytes = (plan.shape.bits * size + plan.shape.table_bits) / 8 + 16;
  plan.packs = residuals.size() < 4 * kPackedBlock ||
               glance_packed(residuals) * scale < bytes * kPackedError;
  const double packed =
      plan.packs ? static_cast<double>(estimate_packed(residuals)) * scale : bytes * kPackedError;
  plan.bytes = packed;
  if (bytes < packed * 0.98) {
    plan.coder = Coder::kEntropy;
    plan.bytes = bytes;
  }
  return plan;
}

// Which transforms are worth a plan, by the estimated bits for each number.
std::array<bool, 3> worth_a_plan(std::size_t count, IntScratch& scratch) {
  std::array<double, 3> bits{};
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t order = 0; order < count; ++order) {
    bits[order] = quick_bits(scratch.residuals[order], scratch.entropy);
    least = std::min(least, bits[order]);
  }
  std::array<bool, 3> worth{};
  for (std::size_t order = 0; order < count; ++order) {
    worth[order] = bits[order] <= least + kQuickError;
  }
  return worth;
}

}  // namespace

void differ(std::span<std::uint64_t> numbers) {
  for (std::size_t i = numbers.size() - 1; i > 0; --i) numbers[i] -= numbers[i - 1];
}

bool all_equal(std::span<const std::uint64_t> numbers) {
  std::uint64_t differing = 0;
  for (const std::uint64_t number : numbers) differing |= number ^ numbers[0];
  return differing == 0;
}

Plan make_plan(std::span<const std::uint64_t> numbers, bool small, IntScratch& scratch,
               Search search) {
  Sample sample(numbers, small ? kSampleSmall : kSampleQuick, scratch.sample);
  std::size_t count = 0;  // transforms
  for (std::size_t order = 0; order < scratch.residuals.size(); ++order) {
    if (numbers.size() <= order) break;
    if (order > 0) sample.differ_again();
    const auto residuals = sample.residuals(order, scratch.residuals[order]);
    if (residuals.empty()) break;
    ++count;
    if (all_equal(residuals)) break;  // no difference of these is smaller
  }
  std::array<bool, 3> worth{true, true, true};
  if (search == Search::kLikely && small && count > 1 && numbers.size() >= kQuickMin) {
    worth = worth_a_plan(count, scratch);
  }
  Plan best;
  bool any = false;
  for (std::size_t order = 0; order < count; ++order) {
    if (!worth[order]) continue;
    Plan plan = plan_residuals(scratch.residuals[order], sample.scale(), small, scratch.entropy);
    plan.transform = static_cast<Transform>(order);
    plan.bytes += static_cast<double>(order) * 4;
    // Another difference slows down decoding, so it must save space.
    if (!any || plan.bytes < best.bytes * 0.99) best = plan;
    any = true;
  }
  best.repeats = has_repeats(scratch.residuals[order_of(best.transform)], best.shape.bits);
  return best;
}

}  // namespace halite::storage::chunk
