#include "ingest/json/fast_json_parser.h"

#include <cstdint>
#include <cstring>
#include <optional>

#include "common/bytes/ascii.h"
#include "ingest/json/json_text.h"
#include "ingest/json/json_tokens.h"
#include "ingest/rules/java_number.h"
#include "ingest/rules/point_rules.h"

namespace halite::ingest {
namespace {

// Like memcmp(); most texts here are so short that a call costs more than the comparison.
bool equal(const char* left, const char* right, std::size_t size) {
  constexpr std::size_t kShort = 64;
  if (size < sizeof(std::uint64_t) || size > kShort) return std::memcmp(left, right, size) == 0;
  const auto differ = [left, right](std::size_t at) {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, left + at, sizeof a);
    std::memcpy(&b, right + at, sizeof b);
    return a ^ b;
  };
  std::uint64_t different = differ(size - sizeof(std::uint64_t));
  for (std::size_t at = 0; at + sizeof(std::uint64_t) < size; at += sizeof(std::uint64_t)) {
    different |= differ(at);
  }
  return different == 0;
}

// Scans the body. A step returns false if the input is not as expected; then the general parser
// takes the whole body.
class FastScan {
 public:
  FastScan(std::string_view text, const SeriesCache& cache, SeriesCache::Reader& reader)
      : at_(text.data()), end_(text.data() + text.size()), cache_(cache), reader_(reader) {}

  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] const char* place() const { return at_; }

  [[nodiscard]] bool take(char wanted) {
    if (at_ == end_ || *at_ != wanted) return false;
    ++at_;
    return true;
  }
  void skip_blanks() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  // One point, from brace to brace.
  [[nodiscard]] bool take_element(storage::SeriesId& id, PointBits& point);

 private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  // Consumes the expected text, whatever follows it.
  [[nodiscard]] bool take_text(std::string_view wanted) {
    if (left() < wanted.size() || std::memcmp(at_, wanted.data(), wanted.size()) != 0) return false;
    at_ += wanted.size();
    return true;
  }
  [[nodiscard]] bool take_known(std::string_view wanted) {
    if (left() < wanted.size() || !equal(at_, wanted.data(), wanted.size())) return false;
    at_ += wanted.size();
    return true;
  }
  [[nodiscard]] bool take_colon() {
    if (at_ != end_ && *at_ == ':') {
      ++at_;
    } else {
      skip_blanks();
      if (!take(':')) return false;
    }
    skip_blanks();
    return true;
  }
  [[nodiscard]] bool take_field();
  [[nodiscard]] bool take_metric();
  [[nodiscard]] bool take_tags();
  [[nodiscard]] bool take_timestamp();
  [[nodiscard]] bool take_value();
  [[nodiscard]] bool take_value_field();
  [[nodiscard]] bool find_series(storage::SeriesId& id);
  [[nodiscard]] bool skip_tags();

  // The parts that consecutive elements from one program share: all text before, between and after
  // metric, value and tags, in this order. The timestamp is among them.
  struct ElementTemplate {
    std::string_view before_metric;
    std::string_view before_value;
    std::string_view before_tags;
    std::string_view behind;
  };
  [[nodiscard]] bool take_alike(storage::SeriesId& id, PointBits& point);
  void keep_template(const char* begin);

  enum Field : unsigned { kMetric = 1, kTimestamp = 2, kValue = 4, kTags = 8, kAll = 15 };
  [[nodiscard]] bool note(Field field) {
    const bool fresh = (met_ & field) == 0;
    met_ |= field;
    return fresh;
  }

  const char* at_;
  const char* const end_;
  const SeriesCache& cache_;
  SeriesCache::Reader& reader_;
  // The previous timestamp, which often repeats.
  std::string_view time_text_;
  std::int64_t time_ = 0;
  // Of the current element.
  unsigned met_ = 0;
  const CachedKey* expected_ = nullptr;  // while it still matches
  std::string_view metric_;
  std::string_view tags_;
  std::string_view value_text_;
  Number value_;
  std::optional<ElementTemplate> template_;  // of the previous element
};

bool FastScan::take_metric() {
  if (!note(kMetric) || !take('"')) return false;
  if (expected_ != nullptr) {
    const std::string_view known = expected_->metric();
    if (left() > known.size() && at_[known.size()] == '"' &&
        std::memcmp(at_, known.data(), known.size()) == 0) {
      metric_ = {at_, known.size()};
      at_ += known.size() + 1;
      return true;
    }
    expected_ = nullptr;
  }
  const auto* const quote = static_cast<const char*>(std::memchr(at_, '"', left()));
  if (quote == nullptr) return false;
  metric_ = {at_, static_cast<std::size_t>(quote - at_)};
  at_ = quote + 1;
  return !metric_.empty() && !has_escape(metric_);
}

// Skips to the brace that closes an object of scalars, without checking its content. Cached bytes
// were parsed completely before, so they end where they ended then.
bool FastScan::skip_tags() {
  bool quoted = false;
  for (; at_ != end_; ++at_) {
    if (*at_ == '\\') return false;
    if (*at_ == '"') quoted = !quoted;
    if (*at_ == '}' && !quoted) {
      ++at_;
      return true;
    }
  }
  return false;
}

bool FastScan::take_tags() {
  if (!note(kTags) || at_ == end_ || *at_ != '{') return false;
  const char* const begin = at_;
  if (expected_ != nullptr) {
    const std::string_view known = expected_->tags();
    if (take_text(known)) {
      tags_ = {begin, known.size()};
      return true;
    }
    expected_ = nullptr;
  }
  if (!skip_tags()) return false;
  tags_ = {begin, static_cast<std::size_t>(at_ - begin)};
  return true;
}

bool FastScan::take_timestamp() {
  if (!note(kTimestamp)) return false;
  if (!time_text_.empty() && left() > time_text_.size() && !is_digit(at_[time_text_.size()]) &&
      std::memcmp(at_, time_text_.data(), time_text_.size()) == 0) {
    at_ += time_text_.size();
    return true;
  }
  constexpr std::size_t kDigitsMax = 13;
  const char* const begin = at_;
  if (at_ == end_ || *at_ == '0') return false;
  std::int64_t time = 0;
  for (; at_ != end_ && is_digit(*at_); ++at_) {
    if (static_cast<std::size_t>(at_ - begin) == kDigitsMax) return false;
    time = (time * 10) + (*at_ - '0');
  }
  time_text_ = {begin, static_cast<std::size_t>(at_ - begin)};
  time_ = time;
  return !time_text_.empty();
}

bool FastScan::take_value() {
  if (at_ == end_) return false;
  if (*at_ == '"') {
    const auto* const quote = static_cast<const char*>(std::memchr(at_ + 1, '"', left() - 1));
    if (quote == nullptr) return false;
    const std::string_view inner(at_ + 1, static_cast<std::size_t>(quote - at_ - 1));
    at_ = quote + 1;
    // Characters that no number contains, including blanks, go to the general parser.
    if (inner.find_first_not_of("0123456789+-.eE") != std::string_view::npos) return false;
    return parse_finite_value(inner, value_);
  }
  constexpr std::ptrdiff_t kDigitsMax = 18;
  const char* const begin = at_;
  std::uint64_t digits = 0;
  for (; at_ != end_ && is_digit(*at_); ++at_) {
    digits = (digits * 10) + static_cast<std::uint64_t>(*at_ - '0');
  }
  const std::ptrdiff_t length = at_ - begin;
  const bool ends = at_ != end_ && (*at_ == ',' || *at_ == '}');
  if (ends && length > 0 && length <= kDigitsMax && (*begin != '0' || length == 1)) {
    value_ = {.bits = digits, .is_float = false};
    return true;
  }
  while (at_ != end_ && (is_digit(*at_) || *at_ == '.' || *at_ == '-' || *at_ == '+' ||
                         *at_ == 'e' || *at_ == 'E')) {
    ++at_;
  }
  const std::string_view token(begin, static_cast<std::size_t>(at_ - begin));
  return is_json_number(token) && parse_finite_value(token, value_);
}

bool FastScan::take_value_field() {
  const char* const begin = at_;
  if (!note(kValue) || !take_value()) return false;
  value_text_ = {begin, static_cast<std::size_t>(at_ - begin)};
  return true;
}

bool FastScan::take_field() {
  if (left() < 2 || *at_ != '"') return false;
  switch (at_[1]) {
    case 'm':
      return take_text("\"metric\"") && take_colon() && take_metric();
    case 'v':
      return take_text("\"value\"") && take_colon() && take_value_field();
    case 't':
      if (take_text("\"timestamp\"")) return take_colon() && take_timestamp();
      return take_text("\"tags\"") && take_colon() && take_tags();
    default:
      return false;
  }
}

bool FastScan::find_series(storage::SeriesId& id) {
  if (expected_ != nullptr) {
    id = expected_->id;
    reader_.take_expected();
    return true;
  }
  const SeriesKey key{.grammar = KeyGrammar::kJson, .metric = metric_, .tags = tags_};
  const auto found = reader_.find_in_order(key, cache_.hash(key));
  if (found) id = *found;
  return found.has_value();
}

// An element that differs from the previous one only in its series, the expected one, and its
// value. If it does not match, nothing was consumed.
bool FastScan::take_alike(storage::SeriesId& id, PointBits& point) {
  const std::string_view metric = expected_->metric();
  const std::string_view tags = expected_->tags();
  const char* const begin = at_;
  if (take_known(template_->before_metric) && take_known(metric) &&
      take_known(template_->before_value) && take_value() && take_known(template_->before_tags) &&
      take_known(tags) && take_known(template_->behind)) {
    id = expected_->id;
    reader_.take_expected();
    point = {.time = to_ms(time_),
             .value = value_.bits,
             .flags = point_flags(time_, value_.is_float, true)};
    return true;
  }
  at_ = begin;
  return false;
}

// Of the last element.
void FastScan::keep_template(const char* begin) {
  template_.reset();
  const char* const metric_end = metric_.data() + metric_.size();
  const char* const value_end = value_text_.data() + value_text_.size();
  const char* const tags_end = tags_.data() + tags_.size();
  if (metric_end > value_text_.data() || value_end > tags_.data()) return;
  template_ = {.before_metric = {begin, metric_.data()},
               .before_value = {metric_end, value_text_.data()},
               .before_tags = {value_end, tags_.data()},
               .behind = {tags_end, at_}};
}

bool FastScan::take_element(storage::SeriesId& id, PointBits& point) {
  expected_ = reader_.expected();
  if (expected_ != nullptr && expected_->grammar != KeyGrammar::kJson) expected_ = nullptr;
  if (template_ && expected_ != nullptr && take_alike(id, point)) return true;
  const char* const begin = at_;
  met_ = 0;
  if (!take('{')) return false;
  do {
    skip_blanks();
    if (!take_field()) return false;
    skip_blanks();
  } while (take(','));
  if (!take('}') || met_ != kAll || !find_series(id)) return false;
  keep_template(begin);
  point = {.time = to_ms(time_),
           .value = value_.bits,
           .flags = point_flags(time_, value_.is_float, true)};
  return true;
}

}  // namespace

bool parse_body_fast(std::string_view body, std::size_t points_max, const SeriesCache& cache,
                     SeriesCache::Reader& reader, IngestBatch& ingest_batch,
                     std::vector<std::string_view>& elements) {
  const std::string_view text = java_trim(body);
  FastScan scan(text, cache, reader);
  const bool array = scan.take('[');
  do {
    scan.skip_blanks();
    const char* const begin = scan.place();
    storage::SeriesId id = 0;
    PointBits point;
    if (elements.size() == points_max || !scan.take_element(id, point)) return false;
    const auto size = static_cast<std::size_t>(scan.place() - begin);
    if (elements.empty()) {
      const std::size_t guess = text.size() / size + 1;
      ingest_batch.reserve(guess);
      elements.reserve(guess);
    }
    ingest_batch.add(id, point, static_cast<std::uint32_t>(elements.size()));
    elements.emplace_back(begin, size);
    scan.skip_blanks();
  } while (array && scan.take(','));
  if (array && !scan.take(']')) return false;
  return scan.at_end();
}

}  // namespace halite::ingest
