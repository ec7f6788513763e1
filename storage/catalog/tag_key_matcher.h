// All tag filters of one key, with their names resolved to ids.
//
//   Threads  call const members from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "storage/api/series.h"
#include "storage/api/tag_filter.h"

namespace halite::storage {

// Literals are OR-ed with each other and AND-ed with the rest.
class TagKeyMatcher {
 public:
  explicit TagKeyMatcher(std::uint64_t key_uid) : key_uid_(key_uid) {}

  void want_absent() { absent_ = true; }
  void want_any_of(const std::vector<std::uint64_t>& value_uids);
  void want_match(std::shared_ptr<const TagMatcher> matcher, bool costly);

  [[nodiscard]] std::uint64_t key_uid() const { return key_uid_; }
  [[nodiscard]] bool wants_key() const { return literals_ || !matchers_.empty(); }
  [[nodiscard]] bool wants_absent() const { return absent_; }
  [[nodiscard]] bool wants_match() const { return !matchers_.empty(); }
  // Sorted, without duplicates.
  [[nodiscard]] const std::optional<std::vector<std::uint64_t>>& literals() const {
    return literals_;
  }

  [[nodiscard]] bool matches(const SeriesTags& tags) const;
  // Whether tags with this value of the key match.
  [[nodiscard]] bool matches(const SeriesTag& tag) const;

 private:
  struct Pattern {
    std::shared_ptr<const TagMatcher> matcher;
    // Results of a regular expression by value uid, because many series share a value.
    struct MatchCache {
      std::shared_mutex mutex;
      boost::unordered_flat_map<std::uint64_t, bool> by_value;  // guarded by mutex
    };
    std::shared_ptr<MatchCache> match_cache;  // null if matching is cheap
    [[nodiscard]] bool matches(const SeriesTag& tag) const;
  };

  std::uint64_t key_uid_;
  bool absent_ = false;
  std::optional<std::vector<std::uint64_t>> literals_;
  std::vector<Pattern> matchers_;
};

}  // namespace halite::storage
