#include "storage/catalog/tag_key_matcher.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace halite::storage {

void TagKeyMatcher::want_any_of(const std::vector<std::uint64_t>& value_uids) {
  if (!literals_) literals_.emplace();
  literals_->insert(literals_->end(), value_uids.begin(), value_uids.end());
  std::ranges::sort(*literals_);
  literals_->erase(std::ranges::unique(*literals_).begin(), literals_->end());
}

void TagKeyMatcher::want_match(std::shared_ptr<const TagMatcher> matcher, bool costly) {
  Pattern pattern;
  pattern.matcher = std::move(matcher);
  if (costly) pattern.match_cache = std::make_shared<Pattern::MatchCache>();
  matchers_.push_back(std::move(pattern));
}

bool TagKeyMatcher::Pattern::matches(const SeriesTag& tag) const {
  if (match_cache == nullptr) return matcher->matches(tag.value);
  {
    const std::shared_lock lock(match_cache->mutex);
    const auto found = match_cache->by_value.find(tag.value_uid);
    if (found != match_cache->by_value.end()) return found->second;
  }
  const bool matched = matcher->matches(tag.value);
  const std::lock_guard lock(match_cache->mutex);
  match_cache->by_value.emplace(tag.value_uid, matched);
  return matched;
}

bool TagKeyMatcher::matches(const SeriesTag& tag) const {
  if (absent_) return false;
  if (literals_ && !std::ranges::binary_search(*literals_, tag.value_uid)) return false;
  return std::ranges::all_of(matchers_,
                             [&tag](const Pattern& pattern) { return pattern.matches(tag); });
}

bool TagKeyMatcher::matches(const SeriesTags& tags) const {
  for (const SeriesTag& tag : tags) {
    if (tag.key_uid == key_uid_) return matches(tag);
  }
  return !wants_key();
}

}  // namespace halite::storage
