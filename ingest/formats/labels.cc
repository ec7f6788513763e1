#include "ingest/formats/labels.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"
#include "ingest/formats/names.h"
#include "ingest/formats/shown.h"

namespace halite::ingest {
namespace {

bool is_classic(std::string_view name, bool metric) {
  return !name.empty() && !is_digit(name.front()) && std::ranges::all_of(name, [&](char c) {
    return is_letter_or_digit(c) || c == '_' || (metric && c == ':');
  });
}

// Appends what a backslash and the text behind it stand for, and removes them. False: not an
// escape.
bool take_go_escape(std::string_view& text, std::string& to) {
  constexpr std::string_view kLetters = "abfnrtv\\\"'";
  constexpr std::string_view kBytes = "\a\b\f\n\r\t\v\\\"'";
  if (text.size() < 2) return false;
  const char kind = text[1];
  text.remove_prefix(2);
  if (const std::size_t at = kLetters.find(kind); at != std::string_view::npos) {
    to += kBytes[at];
    return true;
  }
  const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : kind == 'U' ? 8 : 0;
  if (digits == 0 || text.size() < digits) return false;
  char32_t value = 0;
  for (const char c : text.substr(0, digits)) {
    const int digit = hex_digit(c);
    if (digit < 0 || value > 0x10FFFF) return false;
    value = value * 16 + static_cast<char32_t>(digit);
  }
  text.remove_prefix(digits);
  if (kind == 'x') {
    to += static_cast<char>(value);
  } else if (value > 0x10FFFF) {
    return false;
  } else {
    append_utf8(to, value);
  }
  return true;
}

// As in the exposition formats: \\ \" \n. Other backslashes stay, as Prometheus leaves them.
void take_exposition_escape(std::string_view& text, std::string& to) {
  const char kind = text.size() > 1 ? text[1] : '\0';
  if (kind == 'n') {
    to += '\n';
  } else if (kind == '\\' || kind == '"') {
    to += kind;
  } else {
    to += '\\';
    text.remove_prefix(1);
    return;
  }
  text.remove_prefix(2);
}

// Reads the text between the braces from left to right.
class LabelReader {
 public:
  LabelReader(std::string_view text, Escapes escapes)
      : text_(text), rest_(text), escapes_(escapes) {}

  void skip_blanks() {
    while (!rest_.empty() && kBlanks.contains(rest_.front())) rest_.remove_prefix(1);
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  [[nodiscard]] bool take(char wanted) {
    skip_blanks();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  [[nodiscard]] bool at_quote() const { return rest_.starts_with('"'); }

  [[nodiscard]] std::optional<std::string> take_string() {
    if (!take('"')) return std::nullopt;
    std::string string;
    while (true) {
      const std::size_t plain = rest_.find_first_of("\"\\");
      if (plain == std::string_view::npos) return std::nullopt;
      string += rest_.substr(0, plain);
      rest_.remove_prefix(plain);
      if (rest_.front() == '"') break;
      if (escapes_ == Escapes::kExposition) {
        take_exposition_escape(rest_, string);
      } else if (!take_go_escape(rest_, string)) {
        return std::nullopt;
      }
    }
    rest_.remove_prefix(1);
    return string;
  }
  [[nodiscard]] std::string take_bare() {
    const std::string_view name = rest_.substr(0, rest_.find_first_of(" \t\"{},="));
    rest_.remove_prefix(name.size());
    return std::string(name);
  }

  [[nodiscard]] Refused wrong(std::string_view what) const {
    return {.text =
                fmt::format("byte {} of the labels: {}", text_.size() - rest_.size() + 1, what)};
  }

 private:
  const std::string_view text_;
  std::string_view rest_;
  const Escapes escapes_;
};

struct Names {
  std::string metric;
  bool has_metric = false;
  std::vector<Tag> tags;
};

std::optional<Refused> set_metric(Names& names, std::string metric, const LabelReader& reader) {
  if (names.has_metric) return reader.wrong("the metric is named twice");
  names.metric = std::move(metric);
  names.has_metric = true;
  return std::nullopt;
}

std::optional<Refused> take_label(LabelReader& reader, Names& names) {
  std::string key;
  const bool quoted = reader.at_quote();
  if (quoted) {
    auto string = reader.take_string();
    if (!string) return reader.wrong("a string without an end, or with a wrong escape");
    key = *std::move(string);
  } else {
    key = reader.take_bare();
  }
  if (!reader.take('=')) {
    if (quoted) return set_metric(names, std::move(key), reader);
    return reader.wrong("a label has the form name=\"value\"");
  }
  if (key.empty()) return reader.wrong("a label without a name");
  if (!quoted && !is_bare_name(key)) {
    return reader.wrong(fmt::format("{} is not a label: put it in quotes", shown(key)));
  }
  reader.skip_blanks();
  if (!reader.at_quote()) return reader.wrong("the value of a label is in quotes");
  auto value = reader.take_string();
  if (!value) return reader.wrong("a string without an end, or with a wrong escape");
  if (key == kNameLabel) return set_metric(names, *std::move(value), reader);
  names.tags.push_back({.key = std::move(key), .value = *std::move(value)});
  return std::nullopt;
}

void append_exposition_string(std::string& to, std::string_view text) {
  to += '"';
  for (const char c : text) {
    if (c == '\n') {
      to += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') to += '\\';
    to += c;
  }
  to += '"';
}

void append_go_string(std::string& to, std::string_view text) {
  constexpr std::string_view kBytes = "\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kLetters = "abfnrtv\\\"";
  to += '"';
  for (const char c : text) {
    if (const std::size_t at = kBytes.find(c); at != std::string_view::npos) {
      to += '\\';
      to += kLetters[at];
    } else if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F') {
      to += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      to += c;
    }
  }
  to += '"';
}

}  // namespace

std::expected<SeriesName, Refused> parse_labels(std::string_view name, std::string_view labels,
                                                Escapes escapes, const IngestLimits& limits) {
  Names names;
  if (!name.empty()) {
    if (!is_bare_name(name)) {
      return illegal(fmt::format("{} is not a metric: put it in braces and quotes", shown(name)));
    }
    names.metric = name;
    names.has_metric = true;
  }
  LabelReader reader(labels, escapes);
  reader.skip_blanks();
  while (!reader.empty()) {
    if (auto wrong = take_label(reader, names)) return std::unexpected(*std::move(wrong));
    const bool comma = reader.take(',');
    reader.skip_blanks();
    if (!comma && !reader.empty())
      return std::unexpected(reader.wrong("labels have ',' between them"));
  }
  if (!names.has_metric) return illegal("no metric: neither a name nor the label __name__");
  return free_series(std::move(names.metric), std::move(names.tags), limits);
}

std::size_t labels_end(std::string_view labels) {
  bool quoted = false;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (quoted && labels[i] == '\\') {
      ++i;
    } else if (labels[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && labels[i] == '}') {
      return i + 1;
    }
  }
  return std::string_view::npos;
}

void append_exposition_series(std::string& to, const SeriesName& name) {
  const bool classic = is_classic(name.metric, true);
  if (classic) to += name.metric;
  if (classic && name.tags.empty()) return;
  to += '{';
  if (!classic) append_exposition_string(to, name.metric);
  bool first = classic;
  for (const Tag& tag : name.tags) {
    if (!first) to += ',';
    first = false;
    if (is_classic(tag.key, false)) {
      to += tag.key;
    } else {
      append_exposition_string(to, tag.key);
    }
    to += '=';
    append_exposition_string(to, tag.value);
  }
  to += '}';
}

void append_go_series(std::string& to, const SeriesName& name) {
  std::vector<std::pair<std::string_view, std::string_view>> labels = {{kNameLabel, name.metric}};
  for (const Tag& tag : name.tags) labels.emplace_back(tag.key, tag.value);
  std::ranges::sort(labels);
  to += '{';
  for (const auto& [key, value] : labels) {
    if (!to.ends_with('{')) to += ", ";
    if (is_classic(key, false)) {
      to += key;
    } else {
      append_go_string(to, key);
    }
    to += '=';
    append_go_string(to, value);
  }
  to += '}';
}

}  // namespace halite::ingest
