#include "storage/cells/key_pattern.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace halite::storage {
namespace {

void append_bytes(std::string& regex, BytesView bytes) {
  for (const char byte : bytes) {
    fmt::format_to(std::back_inserter(regex), "\\x{:02x}", static_cast<unsigned char>(byte));
  }
}

Bytes id_bytes(std::uint64_t id, std::size_t width) {
  Bytes bytes;
  append_be_width(bytes, id, width);
  return bytes;
}

// The listed values as bytes; empty if any value matches.
std::vector<Bytes> named_values(const TagKeyMatcher& condition, std::size_t width,
                                std::size_t values_max) {
  std::vector<Bytes> values;
  if (!condition.literals() || condition.literals()->size() > values_max) return values;
  for (const std::uint64_t value : *condition.literals()) values.push_back(id_bytes(value, width));
  return values;
}

class Pattern {
 public:
  Pattern(const RowLayout& layout, std::span<const TagKeyMatcher> matchers,
          const KeyPatternLimits& limits)
      : widths_(layout.widths()), pairs_at_(layout.pairs_at()), limits_(limits) {
    for (const TagKeyMatcher& condition : matchers) {
      if (condition.wants_key() && !condition.wants_absent()) wanted_.push_back(&condition);
    }
    std::ranges::sort(wanted_, {}, [](const TagKeyMatcher* one) { return one->key_uid(); });
  }

  [[nodiscard]] bool says_something() const { return !wanted_.empty(); }
  [[nodiscard]] std::size_t keys() const { return wanted_.size(); }

  // Masks for keys in which every position is known.
  [[nodiscard]] std::vector<KeyMask> masks() const {
    std::vector<KeyMask> masks = first_mask();
    for (const TagKeyMatcher* const condition : wanted_) {
      masks = with_pair(masks, *condition);
      if (masks.empty()) return {};
    }
    return masks;
  }

  // Masks up to the last key with listed values that only a few sets of keys can precede. Pairs are
  // ordered by key uid, so those are keys with smaller uids. Empty if there are too many sets.
  [[nodiscard]] std::vector<KeyMask> masks_to_a_named_value() const {
    std::vector<KeyMask> best;
    std::vector<KeyMask> masks = first_mask();
    std::uint64_t id = 1;
    for (const TagKeyMatcher* const condition : wanted_) {
      for (; id < condition->key_uid(); ++id) {
        masks = with_or_without(masks, id);
        if (masks.empty()) return best;
      }
      masks = with_pair(masks, *condition);
      if (masks.empty()) return best;
      if (!named_values(*condition, widths_.tag_value, limits_.values_max).empty()) best = masks;
      ++id;
    }
    return best;
  }

  // `only`: no pairs besides the required ones.
  [[nodiscard]] std::string regex(bool only) const {
    const std::string others =
        only ? "" : fmt::format("(?:.{{{}}})*", widths_.tag_key + widths_.tag_value);
    std::string regex = fmt::format("(?s)\\A.{{{}}}", pairs_at_);
    for (const TagKeyMatcher* const condition : wanted_) {
      regex += others;
      append_bytes(regex, id_bytes(condition->key_uid(), widths_.tag_key));
      const auto values = named_values(*condition, widths_.tag_value, limits_.values_max);
      if (values.empty()) {
        regex += fmt::format(".{{{}}}", widths_.tag_value);
        continue;
      }
      regex += "(?:";
      for (const Bytes& value : values) {
        if (&value != &values.front()) regex += '|';
        append_bytes(regex, value);
      }
      regex += ')';
    }
    return regex + others + "\\z";
  }

 private:
  [[nodiscard]] std::vector<KeyMask> first_mask() const {
    return {{Bytes(pairs_at_, '\0'), Bytes(pairs_at_, '\1')}};
  }

  void append_any_value(KeyMask& mask) const {
    mask.key.append(widths_.tag_value, '\0');
    mask.any.append(widths_.tag_value, '\1');
  }

  // Empty if the masks become too many.
  [[nodiscard]] std::vector<KeyMask> with_pair(const std::vector<KeyMask>& masks,
                                               const TagKeyMatcher& condition) const {
    const Bytes key = id_bytes(condition.key_uid(), widths_.tag_key);
    const auto values = named_values(condition, widths_.tag_value, limits_.values_max);
    if (masks.size() * std::max<std::size_t>(values.size(), 1) > limits_.masks_max) return {};
    std::vector<KeyMask> longer;
    for (KeyMask mask : masks) {
      mask.key += key;
      mask.any.append(key.size(), '\0');
      for (const Bytes& value : values) {
        KeyMask& made = longer.emplace_back(mask);
        made.key += value;
        made.any.append(value.size(), '\0');
      }
      if (values.empty()) append_any_value(longer.emplace_back(std::move(mask)));
    }
    return longer;
  }

  // Empty if the masks become too many.
  [[nodiscard]] std::vector<KeyMask> with_or_without(std::vector<KeyMask> masks,
                                                     std::uint64_t key_uid) const {
    if (masks.size() * 2 > limits_.masks_max) return {};
    const Bytes key = id_bytes(key_uid, widths_.tag_key);
    for (std::size_t i = 0, end = masks.size(); i < end; ++i) {
      KeyMask with = masks[i];
      with.key += key;
      with.any.append(key.size(), '\0');
      append_any_value(with);
      masks.push_back(std::move(with));
    }
    return masks;
  }

  const UidWidths widths_;
  const std::size_t pairs_at_;
  const KeyPatternLimits limits_;
  std::vector<const TagKeyMatcher*> wanted_;
};

}  // namespace

void add_row_pattern(const RowLayout& layout, std::span<const TagKeyMatcher> matchers,
                     std::optional<std::size_t> tags_exactly, bool few,
                     const KeyPatternLimits& limits, ScanHint& hint) {
  const Pattern pattern(layout, matchers, limits);
  if (!pattern.says_something()) return;
  const bool only = tags_exactly && *tags_exactly == pattern.keys();
  if (only) {
    hint.row_masks = pattern.masks();
  } else if (few) {
    hint.row_masks = pattern.masks_to_a_named_value();
  }
  if (hint.row_masks.empty()) hint.row_regex = pattern.regex(only);
}

}  // namespace halite::storage
