#include "ingest/otlp/prometheus_names.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "common/bytes/ascii.h"
#include "common/bytes/utf8.h"

namespace halite::ingest {
namespace {

struct UnitName {
  std::string_view unit;  // of UCUM
  std::string_view name;
};

constexpr std::array kUnits = {
    UnitName{"1", ""},
    UnitName{"d", "days"},
    UnitName{"h", "hours"},
    UnitName{"min", "minutes"},
    UnitName{"s", "seconds"},
    UnitName{"ms", "milliseconds"},
    UnitName{"us", "microseconds"},
    UnitName{"ns", "nanoseconds"},
    UnitName{"By", "bytes"},
    UnitName{"KiBy", "kibibytes"},
    UnitName{"MiBy", "mebibytes"},
    UnitName{"GiBy", "gibibytes"},
    UnitName{"TiBy", "tibibytes"},
    UnitName{"KBy", "kilobytes"},
    UnitName{"MBy", "megabytes"},
    UnitName{"GBy", "gigabytes"},
    UnitName{"TBy", "terabytes"},
    UnitName{"m", "meters"},
    UnitName{"V", "volts"},
    UnitName{"A", "amperes"},
    UnitName{"J", "joules"},
    UnitName{"W", "watts"},
    UnitName{"g", "grams"},
    UnitName{"Cel", "celsius"},
    UnitName{"Hz", "hertz"},
    UnitName{"%", "percent"},
};

// Behind a '/'.
constexpr std::array kPerUnits = {
    UnitName{"s", "second"}, UnitName{"m", "minute"}, UnitName{"h", "hour"}, UnitName{"d", "day"},
    UnitName{"w", "week"},   UnitName{"mo", "month"}, UnitName{"y", "year"},
};

bool is_metric_char(char c) { return is_letter_or_digit(c) || c == ':'; }

// The name of a unit, or the unit itself; nothing for an annotation such as "{packet}".
std::string_view unit_name(std::string_view unit, const auto& names) {
  unit = trim(unit, kCBlanks);
  if (unit.find_first_of("{}") != std::string_view::npos) return {};
  const auto known = std::ranges::find(names, unit, &UnitName::unit);
  return known == names.end() ? unit : known->name;
}

// Other characters become one '_' each run, and none at the front.
std::string clean_unit(std::string_view name) {
  std::string clean;
  bool gap = false;
  for (const char c : name) {
    if (!is_metric_char(c)) {
      gap = !clean.empty();
      continue;
    }
    if (std::exchange(gap, false)) clean += '_';
    clean += c;
  }
  if (gap) clean += '_';
  return clean;
}

class Tokens {
 public:
  explicit Tokens(std::string_view name) {
    for (std::size_t at = 0; at < name.size();) {
      const std::size_t begin = at;
      while (at < name.size() && is_metric_char(name[at])) ++at;
      if (at > begin) tokens_.push_back(name.substr(begin, at - begin));
      ++at;
    }
  }

  [[nodiscard]] bool has(std::string_view token) const {
    return std::ranges::find(tokens_, token) != tokens_.end();
  }
  void add(std::string_view token) { tokens_.push_back(token); }
  void move_to_end(std::string_view token) {
    std::erase(tokens_, token);
    add(token);
  }
  [[nodiscard]] std::string joined() const {
    std::string name;
    for (const std::string_view token : tokens_) {
      if (!name.empty()) name += '_';
      name += token;
    }
    if (!name.empty() && is_digit(name.front())) name.insert(0, 1, '_');
    return name;
  }

 private:
  std::vector<std::string_view> tokens_;
};

void strip_end(std::string& name) {
  if (name.ends_with('_')) name.pop_back();
}

}  // namespace

std::string metric_name(std::string_view name, std::string_view unit, MetricKind kind) {
  const std::size_t slash = std::min(unit.find('/'), unit.size());
  std::string main = clean_unit(unit_name(unit.substr(0, slash), kUnits));
  const std::string_view per_unit =
      slash == unit.size() ? std::string_view() : unit_name(unit.substr(slash + 1), kPerUnits);
  std::string per;
  if (!per_unit.empty()) {
    per = clean_unit("per_" + std::string(per_unit));
    if (per == "per_") per.clear();
    strip_end(per);
  }
  Tokens tokens(name);
  const bool has_main = main.empty() || tokens.has(main);
  const bool has_per = per.empty() || tokens.has(per);
  if (!has_per) strip_end(main);
  if (!has_main && !main.empty()) tokens.add(main);
  if (!has_per) tokens.add(per);
  if (kind == MetricKind::kCounter) tokens.move_to_end("total");
  if (kind == MetricKind::kGauge && unit == "1") tokens.move_to_end("ratio");
  std::string joined = tokens.joined();
  const bool is_name = std::ranges::any_of(joined, [](char c) { return c != '_'; });
  return is_name ? joined : std::string();
}

std::string label_name(std::string_view key) {
  std::string label;
  label.reserve(key.size() + 4);
  while (!key.empty()) {
    const char c = key.front();
    label += is_letter_or_digit(c) ? c : '_';
    const bool ascii = static_cast<unsigned char>(c) < 0x80;
    key.remove_prefix(ascii ? 1 : std::max(decode_utf8(key).bytes, 1U));
  }
  if (label.empty()) return label;
  if (is_digit(label.front())) {
    label.insert(0, "key_");
  } else if (label.starts_with('_') && !label.starts_with("__")) {
    label.insert(0, "key");
  }
  const bool is_name = std::ranges::any_of(label, [](char c) { return c != '_'; });
  return is_name ? label : std::string();
}

}  // namespace halite::ingest
