// Every setting of the process: its name, its unit and the source of its value.
//
//   Config config;
//   config.bytes("web.body_bytes_max", options.body_bytes_max, {1, 1 << 30}, "Largest body.");
//   TRY_VOID(config.apply_file("halite.toml"));
//   TRY_VOID(config.apply_environment(environ));
//   TRY_VOID(config.apply_flag("--listen", "listen", "0.0.0.0:4242"));
//
//   Default   the value of the field when it is declared; only the options struct defines it.
//   Order     flags override HALITE_* variables, which override the file, in whatever order they
//             are applied.
//   Lifetime  the fields outlive the Config.
//   Threads   not thread-safe; used at start only.
//   Errors    kInvalidArgument, with the place of the value. For an unknown name it suggests the
//             nearest one, if one is near.
//
// Over 140 lines because each kind of setting has a declaration with its units.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/config/config_file.h"
#include "common/result.h"

namespace halite {

struct SettingRange {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();  // both inclusive
};

// When a new value takes effect.
enum class SettingChange : std::uint8_t {
  kRestart,     // at the next start
  kFixed,       // never: the value is fixed when the data directory is created
  kFileReread,  // at the next start; changes inside the named file apply without a restart
  kRuntime,     // at the next start; an endpoint can change it until then
  kReread,      // when the settings file changes
};

enum class SettingSource : std::uint8_t { kDefault, kFile, kEnvironment, kFlag };

struct Setting {
  std::string name;
  std::string unit;  // "bytes", "ms", "points"; empty = none
  std::string doc;   // one sentence
  std::string default_text;
  std::string text;      // as parse_*() reads it back
  bool quoted = true;    // the text needs quotes in TOML
  bool tables = false;   // a file may have [[NAME]] tables, whose JSON is the text
  std::string type;      // "boolean", "text", "choice", "number", "size", "duration"
  std::string min_text;  // of a number, size or duration
  std::string max_text;  // empty = only the type limits it
  SettingChange change = SettingChange::kRestart;
  SettingSource source = SettingSource::kDefault;
  std::string origin = "default";  // "file halite.toml:3", "environment HALITE_LISTEN"
  // Checks and stores a text, and returns its canonical form.
  std::function<Result<std::string>(std::string_view)> store;
};

class Config {
 public:
  // Declare settings. The unit of a count names what is counted.
  void flag(std::string name, bool& field, std::string doc);
  void text(std::string name, std::string& field, std::string doc);
  // A text that is the JSON of the [[NAME]] tables of a file.
  void tables(std::string name, std::string& field, std::string doc);
  void choice(std::string name, std::string& field, std::vector<std::string> choices,
              std::string doc);
  // The names of all values of an enum.
  template <class Enum>
    requires std::is_enum_v<Enum>
  void choice(std::string name, Enum& field, std::vector<std::pair<std::string, Enum>> choices,
              std::string doc) {
    std::vector<std::string> names;
    std::string initial;
    for (const auto& [text, value] : choices) {
      names.push_back(text);
      if (value == field) initial = text;
    }
    choice(std::move(name), std::move(initial), std::move(names), std::move(doc),
           [&field, choices = std::move(choices)](std::size_t at) { field = choices[at].second; });
  }
  template <std::integral Number>
  void count(std::string name, Number& field, SettingRange range, std::string unit,
             std::string doc) {
    number(std::move(name), Kind::kCount, std::move(unit), narrowed<Number>(range),
           static_cast<std::int64_t>(field), std::move(doc),
           [&field](std::int64_t value) { field = static_cast<Number>(value); });
  }
  template <std::integral Number>
  void bytes(std::string name, Number& field, SettingRange range, std::string doc) {
    number(std::move(name), Kind::kBytes, "bytes", narrowed<Number>(range),
           static_cast<std::int64_t>(field), std::move(doc),
           [&field](std::int64_t value) { field = static_cast<Number>(value); });
  }
  template <std::integral Number>
  void duration_ms(std::string name, Number& field, SettingRange range, std::string doc) {
    number(std::move(name), Kind::kDuration, "ms", narrowed<Number>(range),
           static_cast<std::int64_t>(field), std::move(doc),
           [&field](std::int64_t value) { field = static_cast<Number>(value); });
  }

  // Declares that the default of a setting is computed at start; `rule` says how.
  void set_rule(std::string_view name, std::string rule);
  // Stores the result of the rule, unless a source has set the setting.
  Result<void> apply_rule(std::string_view name, std::int64_t value);

  // Sets when new values of declared settings take effect.
  void set_change(SettingChange change, std::initializer_list<std::string_view> names);

  // Apply values from a source.
  Result<void> apply_file(const std::string& path);
  Result<void> apply_file_text(std::string_view text, const std::string& path);
  // Reads "NAME=value" texts up to a null pointer, and only HALITE_*. Ignores HALITE_CONFIG, which
  // names the file.
  Result<void> apply_environment(const char* const* environment);
  // `shown` is the flag as the user wrote it: "--listen".
  Result<void> apply_flag(const std::string& shown, std::string_view name, std::string_view value);

  // Applies a value from another kind of file, with the precedence of the file. `origin` names its
  // place.
  Result<void> apply_origin(const std::string& origin, std::string_view name,
                            std::string_view value);

  [[nodiscard]] const std::vector<Setting>& settings() const { return settings_; }

  // All settings as a TOML file, each with its meaning, unit, default and source.
  [[nodiscard]] std::string print() const;

 private:
  enum class Kind : std::uint8_t { kCount, kBytes, kDuration };

  template <std::integral Number>
  static SettingRange narrowed(SettingRange range) {
    if (std::cmp_less(std::numeric_limits<Number>::max(), range.max)) {
      range.max = static_cast<std::int64_t>(std::numeric_limits<Number>::max());
    }
    return range;
  }
  // `choose` receives the index of the choice.
  void choice(std::string name, std::string initial, std::vector<std::string> choices,
              std::string doc, std::function<void(std::size_t)> choose);
  void number(std::string name, Kind kind, std::string unit, SettingRange range,
              std::int64_t initial, std::string doc, std::function<void(std::int64_t)> store);
  static const char* type_of(Kind kind);
  void declare(Setting setting);
  [[nodiscard]] Setting* find(std::string_view name);
  // Empty if no name is near.
  [[nodiscard]] std::string_view nearest(std::string_view name) const;
  // What to do about an unknown name.
  [[nodiscard]] std::string advice_for(std::string_view name) const;
  [[nodiscard]] std::string advice_in_file(std::string_view name);
  Result<void> apply_entries(const std::vector<FileSetting>& entries, const std::string& path);
  static Result<void> assign(Setting& setting, std::string_view text, SettingSource source,
                             std::string origin);

  std::vector<Setting> settings_;
};

// For example, HALITE_WEB_BODY_BYTES_MAX for "web.body_bytes_max".
[[nodiscard]] std::string environment_name(std::string_view setting);

}  // namespace halite
