#include "storage/catalog/key_condition.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace halite::storage {

void KeyCondition::want_any_of(const std::vector<std::uint64_t>& value_uids) {
  if (!literals_) literals_.emplace();
  literals_->insert(literals_->end(), value_uids.begin(), value_uids.end());
  std::ranges::sort(*literals_);
  literals_->erase(std::ranges::unique(*literals_).begin(), literals_->end());
}

void KeyCondition::want_match(std::shared_ptr<const TagMatcher> matcher, bool costly) {
  Pattern pattern;
  pattern.matcher = std::move(matcher);
  if (costly) pattern.verdicts = std::make_shared<Pattern::Verdicts>();
  matchers_.push_back(std::move(pattern));
}

bool KeyCondition::Pattern::matches(const SeriesTag& tag) const {
  if (verdicts == nullptr) return matcher->matches(tag.value);
  {
    const std::shared_lock lock(verdicts->mutex);
    const auto found = verdicts->by_value.find(tag.value_uid);
    if (found != verdicts->by_value.end()) return found->second;
  }
  const bool verdict = matcher->matches(tag.value);
  const std::lock_guard lock(verdicts->mutex);
  verdicts->by_value.emplace(tag.value_uid, verdict);
  return verdict;
}

bool KeyCondition::matches(const SeriesTag& tag) const {
  if (absent_) return false;
  if (literals_ && !std::ranges::binary_search(*literals_, tag.value_uid)) return false;
  return std::ranges::all_of(matchers_,
                             [&tag](const Pattern& pattern) { return pattern.matches(tag); });
}

bool KeyCondition::matches(const SeriesTags& tags) const {
  for (const SeriesTag& tag : tags) {
    if (tag.key_uid == key_uid_) return matches(tag);
  }
  return !wants_key();
}

}  // namespace halite::storage
