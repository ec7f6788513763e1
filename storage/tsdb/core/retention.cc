#include "storage/tsdb/core/retention.h"

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/json/json_value.h"
#include "storage/tsdb/core/all_times.h"
#include "storage/tsdb/core/engine_cell.h"

namespace halite::storage::engine {
namespace {

constexpr BytesView kRetentionQualifier = "retention";  // in the settings table

constexpr std::int64_t kFormat = 1;
constexpr std::uint32_t kShardsMax = 256;  // the key has one byte for the shard

std::optional<std::int64_t> number(const boost::json::object& object, std::string_view name) {
  const boost::json::value* found = object.if_contains(name);
  if (found == nullptr || !found->is_int64() || found->get_int64() < 0) return std::nullopt;
  return found->get_int64();
}

std::optional<RetentionState::Class> read_class(const boost::json::value& value) {
  if (!value.is_object()) return std::nullopt;
  const boost::json::object& object = value.get_object();
  const boost::json::value* prefix = object.if_contains("prefix");
  const auto ttl_ms = number(object, "ttl_ms");
  const auto slots = number(object, "slots");
  const boost::json::value* in_use = object.if_contains("in_use");
  const bool whole = prefix != nullptr && prefix->is_string() && ttl_ms && slots &&
                     *slots <= std::numeric_limits<std::uint32_t>::max() && in_use != nullptr &&
                     in_use->is_bool();
  if (!whole) return std::nullopt;
  return RetentionState::Class{.prefix = std::string(prefix->get_string()),
                               .ttl_ms = *ttl_ms,
                               .slots = static_cast<std::uint32_t>(*slots),
                               .in_use = in_use->get_bool()};
}

Result<std::shared_ptr<const CyclicLayout>> make_layout(const CyclicLayout& base,
                                                        const RetentionState::Class& one) {
  CyclicOptions options = base.options();
  options.ttl_ms = one.ttl_ms;
  options.never_reuse = one.slots == 0;
  options.ttl_setting = "storage.retention";
  if (one.slots != 0) options.slots = one.slots;
  auto layout = CyclicLayout::make(options);
  if (!layout) {
    return fail(layout.error().code,
                fmt::format("storage.retention: {}: {}", one.prefix, layout.error().message));
  }
  return std::shared_ptr<const CyclicLayout>(std::move(*layout));
}

}  // namespace

std::uint32_t RetentionState::class_of(std::string_view metric) const {
  std::uint32_t found = 0;
  std::size_t longest = 0;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const std::string& prefix = classes[i].prefix;
    if (!classes[i].in_use || prefix.size() <= longest || !metric.starts_with(prefix)) continue;
    found = static_cast<std::uint32_t>(i + 1);
    longest = prefix.size();
  }
  return found;
}

Bytes RetentionState::to_bytes() const {
  boost::json::array list;
  for (const Class& one : classes) {
    list.push_back(boost::json::object{{"prefix", one.prefix},
                                       {"ttl_ms", one.ttl_ms},
                                       {"slots", std::int64_t{one.slots}},
                                       {"in_use", one.in_use}});
  }
  boost::json::array pins;
  for (const auto& [metric_uid, to_class] : pinned) {
    pins.push_back(boost::json::array{static_cast<std::int64_t>(metric_uid), to_class});
  }
  const boost::json::object object = {
      {"format", kFormat}, {"classes", std::move(list)}, {"pinned", std::move(pins)}};
  return boost::json::serialize(object);
}

Result<RetentionState> RetentionState::from_bytes(BytesView bytes) {
  const auto corrupt = [&bytes] {
    return fail(Errc::kCorruption, fmt::format("retention classes: {}", bytes));
  };
  boost::system::error_code error;
  const boost::json::value parsed = parse_json_value(bytes, error);
  if (error || !parsed.is_object()) return corrupt();
  const boost::json::object& object = parsed.get_object();
  const auto format = number(object, "format");
  if (!format) return corrupt();
  if (*format != kFormat) {
    return fail(Errc::kUnsupported,
                fmt::format("the retention classes have format {}; this version reads format {}",
                            *format, kFormat));
  }
  const boost::json::value* classes = object.if_contains("classes");
  const boost::json::value* pinned = object.if_contains("pinned");
  if (classes == nullptr || !classes->is_array()) return corrupt();
  if (pinned == nullptr || !pinned->is_array()) return corrupt();
  RetentionState state;
  for (const boost::json::value& value : classes->get_array()) {
    auto one = read_class(value);
    if (!one) return corrupt();
    state.classes.push_back(*std::move(one));
  }
  for (const boost::json::value& value : pinned->get_array()) {
    if (!value.is_array() || value.get_array().size() != 2) return corrupt();
    const auto uid = value.get_array()[0].to_number<std::uint64_t>(error);
    if (error) return corrupt();
    const auto to_class = value.get_array()[1].to_number<std::uint32_t>(error);
    if (error || to_class > state.classes.size()) return corrupt();
    state.pinned[uid] = to_class;
  }
  return state;
}

Result<std::shared_ptr<Retention>> Retention::make(std::shared_ptr<const CyclicLayout> base,
                                                   RetentionState state) {
  const std::uint32_t salts = base->salt_buckets();
  if ((state.classes.size() + 1) * salts > kShardsMax) {
    return fail(Errc::kInvalidArgument,
                fmt::format("storage.retention has {} prefixes, but storage.salt_buckets = {} "
                            "allows only {}; prefixes used earlier also count",
                            state.classes.size(), salts, kShardsMax / salts - 1));
  }
  std::vector<std::shared_ptr<const CyclicLayout>> layouts;
  for (const RetentionState::Class& one : state.classes) {
    TRY(auto layout, make_layout(*base, one));
    layouts.push_back(std::move(layout));
  }
  layouts.insert(layouts.begin(), std::move(base));
  return std::shared_ptr<Retention>(new Retention(std::move(layouts), std::move(state)));
}

Retention::Retention(std::vector<std::shared_ptr<const CyclicLayout>> layouts, RetentionState state)
    : layouts_(std::move(layouts)),
      salts_(layouts_.front()->salt_buckets()),
      state_(std::move(state)) {}

std::uint32_t Retention::class_of(std::uint64_t metric_uid, std::string_view metric) const {
  const std::shared_lock lock(mutex_);
  const auto pinned = state_.pinned.find(metric_uid);
  return pinned != state_.pinned.end() ? pinned->second : state_.class_of(metric);
}

TimestampMs Retention::kept_from(std::uint64_t metric_uid, std::string_view metric,
                                 TimestampMs now) const {
  return layouts_[class_of(metric_uid, metric)]->alive(kAllTimes, now).begin;
}

TimestampMs Retention::all_kept_from(TimestampMs now) const {
  TimestampMs latest = kAllTimes.begin;
  for (const auto& layout : layouts_) {
    latest = std::max(latest, layout->alive(kAllTimes, now).begin);
  }
  return latest;
}

std::uint32_t Retention::shard_of(std::uint64_t metric_uid, std::string_view metric,
                                  BytesView tsuid) const {
  return class_of(metric_uid, metric) * salts_ + base().salt_of(tsuid);
}

void Retention::assign_class(std::uint64_t metric_uid, std::uint32_t to_class) {
  const std::lock_guard lock(mutex_);
  state_.pinned[metric_uid] = to_class;
}

RetentionState Retention::state() const {
  const std::shared_lock lock(mutex_);
  return state_;
}

Task<RetentionState> read_retention(std::shared_ptr<Table> settings) {
  CO_TRY(const std::optional<Bytes> cell,
         co_await read_engine_cell(settings, Bytes(kRetentionQualifier)));
  if (!cell) co_return RetentionState();
  co_return RetentionState::from_bytes(*cell);
}

Task<void> write_retention(std::shared_ptr<Table> settings, RetentionState state) {
  co_return co_await write_engine_cell(settings, Bytes(kRetentionQualifier), state.to_bytes());
}

Task<void> RetentionClassWriter::keep_class(std::uint64_t metric_uid, std::string old_name,
                                            std::string new_name) {
  // Serializes read and write, so that an older state cannot overwrite a newer one.
  CO_TRY(const Semaphore::Permit pass, co_await turn_->enter(SemaphoreLoad{1, 0}));
  const std::uint32_t before = retention_->class_of(metric_uid, old_name);
  if (retention_->class_of(metric_uid, new_name) == before) co_return Result<void>();
  retention_->assign_class(metric_uid, before);
  co_return co_await write_retention(settings_, retention_->state());
}

}  // namespace halite::storage::engine
