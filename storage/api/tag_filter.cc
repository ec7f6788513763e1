#include "storage/api/tag_filter.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

namespace halite::storage {
namespace {

// Lower case for ASCII and U+00C0..U+00DE, which covers the ISO-8859-1 names of OpenTSDB.
std::string fold_case(std::string_view text) {
  std::string folded(text);
  bool after_c3 = false;
  for (char& c : folded) {
    const auto byte = static_cast<unsigned char>(c);
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c + 32);
    } else if (after_c3 && byte >= 0x80 && byte <= 0x9E && byte != 0x97) {  // 0x97: times sign
      c = static_cast<char>(byte + 32);
    }
    after_c3 = byte == 0xC3;
  }
  return folded;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    if (end > begin) parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

struct StringHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

class LiteralMatcher final : public TagMatcher {
 public:
  LiteralMatcher(const std::vector<std::string>& literals, bool ignore_case, bool negated)
      : ignore_case_(ignore_case), negated_(negated) {
    for (const std::string& literal : literals) {
      literals_.insert(ignore_case ? fold_case(literal) : literal);
    }
  }

  [[nodiscard]] bool matches(std::string_view value) const override {
    const bool found =
        ignore_case_ ? literals_.contains(fold_case(value)) : literals_.contains(value);
    return found != negated_;
  }

 private:
  std::unordered_set<std::string, StringHash, std::equal_to<>> literals_;
  bool ignore_case_;
  bool negated_;
};

// OpenTSDB's wildcard is not a glob. The first part is anchored only in patterns like "a*b*", the
// last only in "*a*b". The search for each part starts at the total length of the earlier parts,
// not behind their matches. So "a*b" matches anywhere, and "b*a" matches "xab".
class WildcardMatcher final : public TagMatcher {
 public:
  WildcardMatcher(std::string_view pattern, bool ignore_case)
      : parts_(split(ignore_case ? fold_case(pattern) : std::string(pattern), '*')),
        ignore_case_(ignore_case),
        anchored_begin_(pattern.front() != '*' && pattern.back() == '*'),
        anchored_end_(pattern.front() == '*' && pattern.back() != '*') {}

  [[nodiscard]] bool matches(std::string_view value) const override {
    return ignore_case_ ? matches_folded(fold_case(value)) : matches_folded(value);
  }

 private:
  [[nodiscard]] bool matches_folded(std::string_view value) const {
    if (parts_.empty()) return true;
    if (anchored_begin_ && !value.starts_with(parts_.front())) return false;
    if (anchored_end_ && !value.ends_with(parts_.back())) return false;
    std::size_t offset = 0;
    for (const std::string& part : parts_) {
      if (value.find(part, offset) == std::string_view::npos) return false;
      offset += part.size();
    }
    return true;
  }

  std::vector<std::string> parts_;
  bool ignore_case_;
  bool anchored_begin_;
  bool anchored_end_;
};

class RegexpMatcher final : public TagMatcher {
 public:
  explicit RegexpMatcher(std::shared_ptr<const re2::RE2> regexp) : regexp_(std::move(regexp)) {}

  [[nodiscard]] bool matches(std::string_view value) const override {
    return re2::RE2::PartialMatch(re2::StringPiece(value.data(), value.size()), *regexp_);
  }

 private:
  std::shared_ptr<const re2::RE2> regexp_;
};

class NeverMatcher final : public TagMatcher {
 public:
  [[nodiscard]] bool matches(std::string_view) const override { return false; }
};

}  // namespace

std::string_view filter_type_name(FilterType type) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"literal_or", "iliteral_or", "not_literal_or", "not_iliteral_or", "wildcard", "iwildcard",
       "regexp", "not_key"});
  static_assert(kNames.size() == static_cast<std::size_t>(FilterType::kNotKey) + 1);
  return kNames[static_cast<std::size_t>(type)];
}

std::vector<std::string> filter_literals(const TagFilter& filter) {
  return split(filter.pattern, '|');
}

Result<std::shared_ptr<const TagMatcher>> TagMatcher::compile(const TagFilter& filter,
                                                              const Regexps& regexps) {
  if (filter.type == FilterType::kNotKey) return std::make_shared<const NeverMatcher>();
  if (filter.pattern.empty()) {
    return fail(Errc::kInvalidArgument, "Filter cannot be null or empty");
  }
  switch (filter.type) {
    case FilterType::kWildcard:
    case FilterType::kIWildcard:
      if (!filter.pattern.contains('*')) {
        return fail(Errc::kInvalidArgument, "Filter must contain an asterisk");
      }
      return std::make_shared<const WildcardMatcher>(filter.pattern,
                                                     filter.type == FilterType::kIWildcard);
    case FilterType::kRegexp: {
      TRY(auto regexp, regexps.compile(filter.pattern, filter.key, Regexps::Dot::kNoLineFeed));
      return std::make_shared<const RegexpMatcher>(std::move(regexp));
    }
    default:
      break;
  }
  const std::vector<std::string> literals = filter_literals(filter);
  if (literals.empty()) {
    return fail(Errc::kInvalidArgument, "Filter must contain more than just a pipe");
  }
  const bool ignore_case =
      filter.type == FilterType::kILiteralOr || filter.type == FilterType::kNotILiteralOr;
  const bool negated =
      filter.type == FilterType::kNotLiteralOr || filter.type == FilterType::kNotILiteralOr;
  return std::make_shared<const LiteralMatcher>(literals, ignore_case, negated);
}

}  // namespace halite::storage
