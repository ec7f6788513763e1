#include "ingest/series_cache/series_key_match.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halite::ingest {
namespace {

// The tags of a series, each of which may be named once. Senders name them in a constant order,
// often that of the series, so the search begins behind the previous tag.
class UnnamedTags {
 public:
  explicit UnnamedTags(const storage::SeriesTags& tags) : tags_(tags) {}

  [[nodiscard]] bool take(std::string_view key, std::string_view value) {
    for (std::size_t tried = 0; tried < tags_.size(); ++tried) {
      const std::size_t at = next_;
      next_ = next_ + 1 == tags_.size() ? 0 : next_ + 1;
      const storage::SeriesTag& tag = tags_[at];
      if (tag.key != key) continue;
      const std::uint64_t bit = std::uint64_t{1} << at;
      if ((named_ & bit) != 0 || tag.value != value) return false;
      named_ |= bit;
      return true;
    }
    return false;
  }
  [[nodiscard]] bool empty() const {
    return static_cast<std::size_t>(std::popcount(named_)) == tags_.size();
  }

 private:
  const storage::SeriesTags& tags_;
  std::size_t next_ = 0;
  std::uint64_t named_ = 0;
};

constexpr std::size_t kTagsMax = 64;  // bits of UnnamedTags

bool take_words(std::string_view text, UnnamedTags& tags) {
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    text.remove_prefix(std::min(blank + 1, text.size()));
    if (word.empty()) continue;
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view value = word.substr(equals + 1);
    if (value.contains('=') || !tags.take(word.substr(0, equals), value)) return false;
  }
  return true;
}

// Reads the tokens of a JSON object of strings without escapes.
class ObjectText {
 public:
  explicit ObjectText(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool take(char wanted) {
    const std::size_t blanks = rest_.find_first_not_of(" \t\r\n");
    if (blanks == std::string_view::npos || rest_[blanks] != wanted) return false;
    rest_.remove_prefix(blanks + 1);
    return true;
  }
  [[nodiscard]] bool take_string(std::string_view& string) {
    if (!take('"')) return false;
    const std::size_t quote = rest_.find('"');
    if (quote == std::string_view::npos) return false;
    string = rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    return true;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

bool take_object(std::string_view text, UnnamedTags& tags) {
  if (text.contains('\\')) return false;
  ObjectText object(text);
  if (!object.take('{')) return false;
  do {
    std::string_view key;
    std::string_view value;
    if (!object.take_string(key) || !object.take(':') || !object.take_string(value)) return false;
    if (!tags.take(key, value)) return false;
  } while (object.take(','));
  return object.take('}') && object.empty();
}

bool take_names(std::string_view text, UnnamedTags& tags) {
  while (!text.empty()) {
    const std::size_t key_end = text.find('\0');
    const std::size_t value_end = text.find('\0', key_end + 1);
    if (value_end == std::string_view::npos) return false;
    const std::string_view value = text.substr(key_end + 1, value_end - key_end - 1);
    if (!tags.take(text.substr(0, key_end), value)) return false;
    text.remove_prefix(value_end + 1);
  }
  return true;
}

bool take_tags(const SeriesKey& key, UnnamedTags& tags) {
  switch (key.grammar) {
    case KeyGrammar::kPutLine:
      return take_words(key.tags, tags);
    case KeyGrammar::kJson:
      return !key.metric.contains('\\') && take_object(key.tags, tags);
    case KeyGrammar::kNames:
      return take_names(key.tags, tags);
  }
  return false;
}

}  // namespace

bool names_series(const SeriesKey& key, const storage::Series& series) {
  if (series.metric != key.metric || series.tags.size() > kTagsMax) return false;
  UnnamedTags tags(series.tags);
  return take_tags(key, tags) && tags.empty();
}

}  // namespace halite::ingest
