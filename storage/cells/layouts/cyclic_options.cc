#include "storage/cells/layouts/cyclic_options.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "storage/cells/layouts/tsuid.h"

namespace halite::storage {
namespace {

// Below a minute a slot costs more than it saves, and the 4-byte periods would run out.
constexpr std::int64_t kSpanMsMin = 60'000;
// 2^32 periods of this length must be a valid time.
constexpr std::int64_t kSpanMsMax = 24 * kDayMs;
constexpr std::int64_t kSlotsMax = 1 << 24;
// 10 000 years: sums of a few such times cannot overflow.
constexpr std::int64_t kTimeMsMax = 10'000 * 366 * kDayMs;

Result<void> in_range(std::string_view name, std::int64_t value, std::int64_t min,
                      std::int64_t max) {
  if (value >= min && value <= max) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("{} must be {} to {}, found {}", name, min, max, value));
}

Result<void> ring_holds(const CyclicOptions& options) {
  const std::int64_t needed =
      options.ttl_ms + options.future_max_ms + options.cleaning_ms + 2 * options.span_ms;
  const std::int64_t lap = options.slots * options.span_ms;
  if (lap >= needed) return {};
  const std::int64_t slots = (needed + options.span_ms - 1) / options.span_ms;
  return fail(
      Errc::kInvalidArgument,
      fmt::format("{} slots of {} span {}, which is too little for {} {} + storage.future_max_ms "
                  "{} + cleaning {} + 2 slots {} = {}: use at least {} slots",
                  options.slots, duration_text(options.span_ms), duration_text(lap),
                  options.ttl_setting, duration_text(options.ttl_ms),
                  duration_text(options.future_max_ms), duration_text(options.cleaning_ms),
                  duration_text(2 * options.span_ms), duration_text(needed), slots));
}

bool is_ring(const CyclicOptions& options) { return options.ttl_ms > 0 && !options.never_reuse; }

}  // namespace

Result<void> check_cyclic_options(const CyclicOptions& options) {
  TRY_VOID(check_widths(options.widths));
  TRY_VOID(in_range("the number of salt buckets", options.salt_buckets, 1, kCyclicSaltsMax));
  TRY_VOID(in_range("the slot span in ms", options.span_ms, kSpanMsMin, kSpanMsMax));
  TRY_VOID(in_range(options.ttl_setting, options.ttl_ms, 0, kTimeMsMax));
  TRY_VOID(in_range("storage.future_max_ms", options.future_max_ms, 0, kTimeMsMax));
  TRY_VOID(in_range("storage.forecast_max_ms", options.forecast_max_ms, 0, kTimeMsMax));
  TRY_VOID(in_range("the cleaning time in ms", options.cleaning_ms, 0, kTimeMsMax));
  TRY_VOID(in_range("the number of slots", options.slots, 1, kSlotsMax));
  return is_ring(options) ? ring_holds(options) : Result<void>{};
}

std::optional<std::string> idle_slots_note(const CyclicOptions& options) {
  if (is_ring(options) || options.slots == CyclicOptions().slots) return std::nullopt;
  return fmt::format(
      "storage.slots = {} has no effect: {}, so slots are never reused", options.slots,
      options.never_reuse
          ? "the data directory was created to keep data forever (storage.ttl_ms = 0)"
          : "data is kept forever (storage.ttl_ms = 0)");
}

TableParameters cyclic_parameters(const CyclicOptions& options) {
  TableParameters parameters;
  parameters.layout = kCyclicLayout;
  parameters.widths = options.widths;
  parameters.salt_width = 1;
  parameters.salt_buckets = options.salt_buckets;
  parameters.span_ms = options.span_ms;
  parameters.slots = is_ring(options) ? options.slots : 0;
  return parameters;
}

std::string duration_text(std::int64_t ms) {
  for (const auto& [unit_ms, unit] : {std::pair<std::int64_t, std::string_view>{kDayMs, "d"},
                                      {3'600'000, "h"},
                                      {60'000, "m"},
                                      {1'000, "s"}}) {
    if (ms != 0 && ms % unit_ms == 0) return fmt::format("{}{}", ms / unit_ms, unit);
  }
  return fmt::format("{}ms", ms);
}

}  // namespace halite::storage
