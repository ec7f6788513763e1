#include "query/promql/eval/label_functions.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "common/bytes/read_number.h"
#include "common/bytes/utf8.h"

namespace halite::query::promql {
namespace {

re2::StringPiece re2_text(std::string_view text) { return {text.data(), text.size()}; }
std::string_view text_of(const re2::StringPiece& piece) { return {piece.data(), piece.size()}; }

bool is_decimal_digit(char c) { return c >= '0' && c <= '9'; }

bool is_label_name(std::string_view name) { return !name.empty() && is_utf8(name); }

// The text that replaces a match: parts as they are, and groups of the regular expression. Written
// as Go expands it: $1, ${1}, $name, ${name}, $$.
class Replacement {
 public:
  Replacement(std::string_view text, const re2::RE2& regexp) {
    while (!text.empty()) {
      const std::size_t dollar = text.find('$');
      add_text(text.substr(0, dollar));
      if (dollar == std::string_view::npos) return;
      text.remove_prefix(dollar + 1);
      if (text.starts_with('$')) {
        add_text("$");
        text.remove_prefix(1);
      } else if (const auto reference = take_reference(text)) {
        if (const int group = find_group(*reference, regexp); group >= 0) {
          parts_.push_back({.text = {}, .group = group});
        }
      } else {
        add_text("$");
      }
    }
  }

  [[nodiscard]] std::size_t bytes(std::span<const re2::StringPiece> groups) const {
    std::size_t bytes = 0;
    for (const Part& part : parts_) {
      bytes +=
          part.group < 0 ? part.text.size() : groups[static_cast<std::size_t>(part.group)].size();
    }
    return bytes;
  }
  [[nodiscard]] std::string expand(std::span<const re2::StringPiece> groups) const {
    std::string text;
    for (const Part& part : parts_) {
      text += part.group < 0 ? part.text : text_of(groups[static_cast<std::size_t>(part.group)]);
    }
    return text;
  }

 private:
  struct Part {
    std::string_view text;
    int group = -1;  // -1: `text`
  };

  void add_text(std::string_view text) {
    if (!text.empty()) parts_.push_back({.text = text});
  }

  // What is behind a '$': a name or a number, maybe in braces. Removes it from `text`; none: the
  // '$' stands for itself.
  static std::optional<std::string_view> take_reference(std::string_view& text) {
    static const re2::RE2 kReference(R"(([\pL\p{Nd}_]+)|\{([\pL\p{Nd}_]+)\})");
    re2::StringPiece rest = re2_text(text);
    re2::StringPiece bare;
    re2::StringPiece braced;
    if (!re2::RE2::Consume(&rest, kReference, &bare, &braced)) return std::nullopt;
    text = text_of(rest);
    return text_of(bare.empty() ? braced : bare);
  }

  // -1: there is no such group; the reference is then empty.
  static int find_group(std::string_view reference, const re2::RE2& regexp) {
    const bool is_number = std::ranges::all_of(reference, is_decimal_digit);
    const bool leading_zero = reference.size() > 1 && reference.front() == '0';
    if (is_number && !leading_zero) {
      int number = 0;
      const bool fits = read_number(reference, number);
      return fits && number <= regexp.NumberOfCapturingGroups() ? number : -1;
    }
    const auto& names = regexp.NamedCapturingGroups();
    const auto found = names.find(std::string(reference));
    return found == names.end() ? -1 : found->second;
  }

  std::vector<Part> parts_;
};

// The run of digits, or of other bytes, at the beginning of a text that is not empty.
std::string_view first_run(std::string_view text) {
  const bool digits = is_decimal_digit(text.front());
  const auto end =
      std::ranges::find_if(text, [&](char c) { return is_decimal_digit(c) != digits; });
  return {text.begin(), end};
}

std::strong_ordering compare_numbers(std::string_view a, std::string_view b) {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  return a.size() != b.size() ? a.size() <=> b.size() : a <=> b;
}

// Compares runs of digits as numbers: a9 < a10. Only equal texts are equal.
std::strong_ordering compare_naturally(std::string_view a, std::string_view b) {
  const std::pair whole(a, b);
  while (!a.empty() && !b.empty()) {
    const std::string_view a_run = first_run(a);
    const std::string_view b_run = first_run(b);
    const bool numbers = is_decimal_digit(a.front()) && is_decimal_digit(b.front());
    const auto order = numbers ? compare_numbers(a_run, b_run) : a_run <=> b_run;
    if (order != 0) return order;
    a.remove_prefix(a_run.size());
    b.remove_prefix(b_run.size());
  }
  if (a.size() != b.size()) return a.size() <=> b.size();  // one is empty
  return whole.first <=> whole.second;
}

}  // namespace

Result<void> LabelTexts::check_room(std::size_t bytes) {
  if (bytes > kLabelValueBytesMax) {
    return fail(Errc::kTooLarge,
                fmt::format("a label would have a value of {} bytes; at most {} are "
                            "possible",
                            bytes, kLabelValueBytesMax));
  }
  TRY_VOID(work_.values(1 + bytes));
  return arena_.check_room(bytes);
}

Result<std::string_view> LabelTexts::keep(std::string text) {
  if (text.empty()) return std::string_view();
  TRY_VOID(work_.bytes(sizeof(std::string) + text.size()));
  return arena_.keep(std::move(text));
}

Result<void> label_replace(Vector& vector, std::string_view target, std::string_view replacement,
                           std::string_view source, std::string_view regexp,
                           std::size_t regexp_bytes_max, LabelTexts& texts) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(static_cast<std::int64_t>(regexp_bytes_max));
  const re2::RE2 compiled(fmt::format("^(?s:{})$", regexp), options);
  if (compiled.error_code() == re2::RE2::ErrorPatternTooLarge) {
    return fail(
        Errc::kTooLarge,
        fmt::format("regular expression in label_replace() needs more than {} bytes compiled "
                    "(query.regexp_bytes_max): {}",
                    regexp_bytes_max, regexp));
  }
  if (!compiled.ok()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("invalid regular expression in label_replace(): {}", regexp));
  }
  if (!is_label_name(target)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("invalid destination label name in label_replace(): {}", target));
  }
  const Replacement expansion(replacement, compiled);
  std::vector<re2::StringPiece> groups(
      static_cast<std::size_t>(compiled.NumberOfCapturingGroups()) + 1);
  for (Row& row : vector.rows) {
    const std::string_view value = row.labels.get(source);
    TRY_VOID(texts.look_at(value));
    if (!compiled.Match(re2_text(value), 0, value.size(), re2::RE2::UNANCHORED, groups.data(),
                        static_cast<int>(groups.size()))) {
      continue;
    }
    TRY_VOID(texts.check_room(expansion.bytes(groups)));
    TRY(const std::string_view text, texts.keep(expansion.expand(groups)));
    row.labels.set(target, text);
  }
  return {};
}

Result<void> label_join(Vector& vector, std::string_view target, std::string_view separator,
                        std::span<const std::string_view> sources, LabelTexts& texts) {
  for (const std::string_view source : sources) {
    if (is_label_name(source)) continue;
    return fail(Errc::kInvalidArgument,
                fmt::format("invalid source label name in label_join(): {}", source));
  }
  if (!is_label_name(target)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("invalid destination label name in label_join(): {}", target));
  }
  for (Row& row : vector.rows) {
    std::size_t bytes = sources.empty() ? 0 : (sources.size() - 1) * separator.size();
    for (const std::string_view source : sources) bytes += row.labels.get(source).size();
    TRY_VOID(texts.check_room(bytes));
    std::string text;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (i > 0) text += separator;
      text += row.labels.get(sources[i]);
    }
    TRY(const std::string_view kept, texts.keep(std::move(text)));
    row.labels.set(target, kept);
  }
  return {};
}

void sort_by_value(Vector& vector, bool descending) {
  std::ranges::sort(vector.rows, [&](const Row& a, const Row& b) {
    const double left = a.values.front();
    const double right = b.values.front();
    if (std::isnan(left) != std::isnan(right)) return std::isnan(right);
    if (left < right) return !descending;
    if (left > right) return descending;
    return a.labels < b.labels;
  });
  vector.ordered = true;
}

void sort_by_label(Vector& vector, std::span<const std::string_view> names, bool descending) {
  const auto compare = [&](const Row& a, const Row& b) {
    for (const std::string_view name : names) {
      const auto order = compare_naturally(a.labels.get(name), b.labels.get(name));
      if (order != 0) return order;
    }
    return a.labels <=> b.labels;
  };
  std::ranges::sort(vector.rows, [&](const Row& a, const Row& b) {
    return descending ? compare(b, a) < 0 : compare(a, b) < 0;
  });
  vector.ordered = true;
}

}  // namespace halite::query::promql
