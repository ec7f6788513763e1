#include "storage/tsdb/chunk/codecs/int_plan.h"

#include <array>
#include <vector>

#include "storage/tsdb/chunk/codecs/packed_ints.h"

namespace halite::storage::chunk {
namespace {

// Sample sizes: all numbers up to this many, otherwise four windows with this many in total.
constexpr std::size_t kSampleSmall = 1024;
constexpr std::size_t kSampleQuick = 128;
constexpr std::size_t kWindows = 4;

// Whether runs of four numbers repeat in the sample more often than by chance.
bool has_repeats(std::span<const std::uint64_t> sample, double bits_a_number) {
  if (sample.size() < 64 || bits_a_number < 4) return false;
  std::array<std::uint64_t, 512> seen{};
  std::size_t again = 0;
  for (std::size_t i = 0; i + 4 <= sample.size(); ++i) {
    std::uint64_t hash = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      hash = (hash ^ sample[i + k]) * 0x9E3779B97F4A7C15u;
      hash ^= hash >> 29;
    }
    std::uint64_t& place = seen[hash % seen.size()];
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
  plan.bytes = static_cast<double>(estimate_packed(residuals)) * scale;
  if (!small || size < static_cast<double>(kEntropyMin)) return plan;
  plan.shape = choose_shape(residuals, scale, scratch);
  const double bytes = (plan.shape.bits * size + plan.shape.table_bits) / 8 + 16;
  plan.repeats = has_repeats(residuals, plan.shape.bits);
  if (bytes < plan.bytes * 0.98) {
    plan.coder = Coder::kEntropy;
    plan.bytes = bytes;
  }
  return plan;
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

Plan make_plan(std::span<const std::uint64_t> numbers, bool small, IntScratch& scratch) {
  Sample sample(numbers, small ? kSampleSmall : kSampleQuick, scratch.sample);
  Plan best;
  for (const Transform transform : {Transform::kNone, Transform::kDelta, Transform::kDelta2}) {
    const std::size_t order = order_of(transform);
    if (numbers.size() <= order) break;
    if (order > 0) sample.differ_again();
    // `differences` is not needed until the plan is made: reuse its memory.
    const auto residuals = sample.residuals(order, scratch.differences);
    if (residuals.empty()) break;
    Plan plan = plan_residuals(residuals, sample.scale(), small, scratch.entropy);
    plan.transform = transform;
    plan.bytes += static_cast<double>(order) * 4;
    // Another difference slows down decoding, so it must save space.
    if (transform == Transform::kNone || plan.bytes < best.bytes * 0.99) best = plan;
  }
  return best;
}

}  // namespace halite::storage::chunk
