#include "storage/tsdb/recovery/retention_store.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace halite::storage::engine {
namespace {

// Enough slots for the TTL, and at least as many as other rings have.
std::uint32_t slots_for(std::int64_t ttl_ms, const CyclicOptions& base) {
  if (ttl_ms == 0) return 0;
  const std::int64_t needed = ttl_ms + base.future_max_ms + base.cleaning_ms + 2 * base.span_ms;
  const std::int64_t slots = (needed + base.span_ms - 1) / base.span_ms;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(slots, base.slots));
}

Result<void> use_rule(const RetentionRule& rule, const CyclicOptions& base, RetentionState& state) {
  auto known = std::ranges::find(state.classes, rule.prefix, &RetentionState::Class::prefix);
  if (known == state.classes.end()) {
    state.classes.push_back(
        {.prefix = rule.prefix, .ttl_ms = rule.ttl_ms, .slots = slots_for(rule.ttl_ms, base)});
    return {};
  }
  if (known->slots != 0 && rule.ttl_ms == 0) {
    return fail(Errc::kInvalidArgument,
                fmt::format("storage.retention: {}: it was created with a ring of "
                            "{} slots, so it cannot be kept forever",
                            rule.prefix, known->slots));
  }
  known->ttl_ms = rule.ttl_ms;
  known->in_use = true;
  return {};
}

bool same_rules(const RetentionState& left, const RetentionState& right) {
  const auto used = [](const RetentionState& state) {
    std::vector<std::string> prefixes;
    for (const RetentionState::Class& one : state.classes) {
      if (one.in_use) prefixes.push_back(one.prefix);
    }
    std::ranges::sort(prefixes);
    return prefixes;
  };
  return used(left) == used(right);
}

}  // namespace

Result<RetentionState> with_rules(RetentionState stored, const std::vector<RetentionRule>& rules,
                                  const CyclicLayout& base) {
  for (RetentionState::Class& one : stored.classes) one.in_use = false;
  for (const RetentionRule& rule : rules) TRY_VOID(use_rule(rule, base.options(), stored));
  return stored;
}

Task<RetentionState> keep_classes(const RetentionState& stored, RetentionState next,
                                  UidTable& uids) {
  if (same_rules(stored, next)) co_return next;
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  CO_TRY(std::vector<std::string> metrics, co_await uids.suggest(NameKind::kMetric, "", kAll));
  std::erase_if(metrics, [&](const std::string& metric) {
    return stored.class_of(metric) == next.class_of(metric);
  });
  for (std::string& metric : metrics) {
    const std::uint32_t before = stored.class_of(metric);
    CO_TRY(const UidTable::NameMapping entry,
           co_await uids.find(NameKind::kMetric, std::move(metric)));
    next.pinned.try_emplace(entry.uid, before);  // a pinned metric stays in its class
  }
  co_return next;
}

}  // namespace halite::storage::engine
