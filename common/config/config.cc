#include "common/config/config.h"

#include <algorithm>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/bytes/ascii.h"
#include "common/check.h"
#include "common/config/config_value.h"
#include "common/config/near_name.h"

namespace halite {
namespace {

constexpr std::string_view kEnvironmentPrefix = "HALITE_";
constexpr std::string_view kFileVariable = "HALITE_CONFIG";
constexpr std::size_t kCommentColumnMax = 44;  // so that one long value does not push all others

// What to do about an unknown name. `near`: the name to suggest, or empty.
std::string advice(std::string_view near) {
  if (near.empty()) return "halite serve --print-config lists all settings";
  return fmt::format("did you mean {}?", near);
}

// "data_dir" as a flag: "--data-dir".
std::string flag_name(std::string_view setting) {
  std::string name = "--";
  for (const char c : setting) name.push_back(c == '_' ? '-' : c);
  return name;
}

std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    out.push_back(c);
  }
  return out + '"';
}

std::string_view change_note(SettingChange change) {
  switch (change) {
    case SettingChange::kRestart:
    case SettingChange::kRuntime:
      break;
    case SettingChange::kFixed:
      return " Fixed when the data directory is created.";
    case SettingChange::kFileReread:
      return " The file is read again when it changes.";
    case SettingChange::kReread:
      return " Applies when this file changes.";
  }
  return "";
}

}  // namespace

std::string environment_name(std::string_view setting) {
  std::string name(kEnvironmentPrefix);
  for (const char c : setting) {
    name.push_back(c == '.' ? '_' : to_upper(c));
  }
  return name;
}

void Config::declare(Setting setting) {
  HALITE_CHECK(find(setting.name) == nullptr, "a setting is declared once");
  setting.text = setting.default_text;
  settings_.push_back(std::move(setting));
}

void Config::flag(std::string name, bool& field, std::string doc) {
  auto store = [&field](std::string_view text) -> Result<std::string> {
    TRY(field, parse_flag(text));
    return field ? "true" : "false";
  };
  declare({.name = std::move(name),
           .unit = "",
           .doc = std::move(doc),
           .default_text = field ? "true" : "false",
           .text = "",
           .quoted = false,
           .type = "boolean",
           .min_text = "",
           .max_text = "",
           .store = store});
}

void Config::text(std::string name, std::string& field, std::string doc) {
  auto store = [&field](std::string_view text) -> Result<std::string> {
    field = text;
    return field;
  };
  declare({.name = std::move(name),
           .unit = "",
           .doc = std::move(doc),
           .default_text = field,
           .text = "",
           .type = "text",
           .min_text = "",
           .max_text = "",
           .store = store});
}

void Config::tables(std::string name, std::string& field, std::string doc) {
  text(std::move(name), field, std::move(doc));
  settings_.back().tables = true;
}

void Config::choice(std::string name, std::string& field, std::vector<std::string> choices,
                    std::string doc) {
  choice(std::move(name), field, choices, std::move(doc),
         [&field, choices](std::size_t at) { field = choices[at]; });
}

void Config::choice(std::string name, std::string initial, std::vector<std::string> choices,
                    std::string doc, std::function<void(std::size_t)> choose) {
  const auto store = [choose = std::move(choose),
                      choices](std::string_view text) -> Result<std::string> {
    const auto found = std::ranges::find(choices, text);
    if (found == choices.end()) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("must be one of {}, not \"{}\"", fmt::join(choices, ", "), text));
    }
    choose(static_cast<std::size_t>(found - choices.begin()));
    return *found;
  };
  declare({.name = std::move(name),
           .unit = fmt::format("{}", fmt::join(choices, " | ")),
           .doc = std::move(doc),
           .default_text = std::move(initial),
           .text = "",
           .type = "choice",
           .min_text = "",
           .max_text = "",
           .store = store});
}

const char* Config::type_of(Kind kind) {
  switch (kind) {
    case Kind::kCount:
      break;
    case Kind::kBytes:
      return "size";
    case Kind::kDuration:
      return "duration";
  }
  return "number";
}

void Config::number(std::string name, Kind kind, std::string unit, SettingRange range,
                    std::int64_t initial, std::string doc,
                    std::function<void(std::int64_t)> store) {
  const auto write = [kind](std::int64_t value) {
    switch (kind) {
      case Kind::kCount:
        break;
      case Kind::kBytes:
        return bytes_text(value);
      case Kind::kDuration:
        return duration_text(value);
    }
    return fmt::format("{}", value);
  };
  const auto parse = [kind](std::string_view text) {
    switch (kind) {
      case Kind::kCount:
        break;
      case Kind::kBytes:
        return parse_bytes(text);
      case Kind::kDuration:
        return parse_duration_ms(text);
    }
    return parse_count(text);
  };
  auto checked = [range, write, parse,
                  store = std::move(store)](std::string_view text) -> Result<std::string> {
    TRY(const std::int64_t value, parse(text));
    if (value < range.min) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("must be at least {}, not {}", write(range.min), write(value)));
    }
    if (value > range.max) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("must be at most {}, not {}", write(range.max), write(value)));
    }
    store(value);
    return write(value);
  };
  declare({.name = std::move(name),
           .unit = std::move(unit),
           .doc = std::move(doc),
           .default_text = write(initial),
           .text = "",
           .quoted = kind != Kind::kCount,
           .type = type_of(kind),
           .min_text = write(range.min),
           .max_text = range.max == SettingRange().max ? "" : write(range.max),
           .store = std::move(checked)});
}

void Config::set_rule(std::string_view name, std::string rule) {
  Setting* const setting = find(name);
  HALITE_CHECK(setting != nullptr, "a setting is declared before its rule");
  setting->default_text = std::move(rule);
}

Result<void> Config::apply_rule(std::string_view name, std::int64_t value) {
  Setting* const setting = find(name);
  HALITE_CHECK(setting != nullptr, "a setting with a rule is declared");
  if (setting->source != SettingSource::kDefault) return {};
  Result<std::string> stored = setting->store(fmt::format("{}", value));
  if (!stored) {
    return fail(stored.error().code, fmt::format("{} {}", name, stored.error().message));
  }
  setting->text = *std::move(stored);
  return {};
}

void Config::set_change(SettingChange change, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    Setting* const setting = find(name);
    HALITE_CHECK(setting != nullptr, "a setting is declared before its change is described");
    setting->change = change;
  }
}

Setting* Config::find(std::string_view name) {
  const auto found = std::ranges::find(settings_, name, &Setting::name);
  return found == settings_.end() ? nullptr : &*found;
}

std::string_view Config::nearest(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const Setting& setting : settings_) names.push_back(setting.name);
  return nearest_name(name, names);
}

Result<void> Config::assign(Setting& setting, std::string_view text, SettingSource source,
                            std::string origin) {
  // Checked even if a stronger source has set it: a wrong value is always an error.
  if (source < setting.source) {
    const std::string kept = setting.text;
    TRY_VOID(setting.store(text));
    TRY_VOID(setting.store(kept));
    return {};
  }
  TRY(setting.text, setting.store(text));
  setting.source = source;
  setting.origin = std::move(origin);
  return {};
}

Result<void> Config::apply_file(const std::string& path) {
  TRY(const std::vector<FileSetting> entries, read_config_file(path));
  return apply_entries(entries, path);
}

Result<void> Config::apply_file_text(std::string_view text, const std::string& path) {
  TRY(const std::vector<FileSetting> entries, parse_config_text(text, path));
  return apply_entries(entries, path);
}

std::string Config::advice_for(std::string_view name) const {
  const bool is_table = std::ranges::any_of(settings_, [name](const Setting& setting) {
    const std::string_view known = setting.name;
    return known.starts_with(name) && known.substr(name.size()).starts_with('.');
  });
  if (is_table) return fmt::format("{0} is a table: set one of its settings, {0}.NAME", name);
  return advice(nearest(name));
}

// A line that is appended to a file belongs to the last table of the file.
std::string Config::advice_in_file(std::string_view name) {
  const std::size_t dot = name.find('.');
  const Setting* const above = find(name.substr(0, dot));
  if (above != nullptr && above->tables) {
    return fmt::format("write [[{0}]], with two brackets, above the keys of each rule",
                       above->name);
  }
  if (dot != std::string_view::npos && find(name.substr(dot + 1)) != nullptr) {
    return fmt::format(
        "if you mean {1}, move the line above the first [TABLE]: here it belongs to [{0}]",
        name.substr(0, dot), name.substr(dot + 1));
  }
  return advice_for(name);
}

Result<void> Config::apply_entries(const std::vector<FileSetting>& entries,
                                   const std::string& path) {
  for (const FileSetting& entry : entries) {
    if (entry.empty_table) continue;
    Setting* setting = find(entry.name);
    if (setting == nullptr) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("{}:{}: unknown setting {}; {}", path, entry.line, entry.name,
                              advice_in_file(entry.name)));
    }
    const Result<void> assigned = assign(*setting, entry.text, SettingSource::kFile,
                                         fmt::format("file {}:{}", path, entry.line));
    if (!assigned) {
      return fail(assigned.error().code, fmt::format("{}:{}: {} {}", path, entry.line, entry.name,
                                                     assigned.error().message));
    }
  }
  return {};
}

Result<void> Config::apply_environment(const char* const* environment) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    if (!variable.starts_with(kEnvironmentPrefix)) continue;
    const std::string_view name = variable.substr(0, variable.find('='));
    if (name == kFileVariable || name.size() == variable.size()) continue;
    const auto found = std::ranges::find(
        settings_, name, [](const Setting& setting) { return environment_name(setting.name); });
    if (found == settings_.end()) {
      const std::string lower = to_lower(name.substr(kEnvironmentPrefix.size()));
      const std::string_view near = nearest(lower);
      return fail(Errc::kInvalidArgument,
                  fmt::format("environment: unknown setting {}; {}", name,
                              advice(near.empty() ? std::string() : environment_name(near))));
    }
    const Result<void> assigned =
        assign(*found, variable.substr(name.size() + 1), SettingSource::kEnvironment,
               fmt::format("environment {}", name));
    if (!assigned) {
      return fail(assigned.error().code,
                  fmt::format("environment: {} {}", name, assigned.error().message));
    }
  }
  return {};
}

Result<void> Config::apply_flag(const std::string& shown, std::string_view name,
                                std::string_view value) {
  Setting* setting = find(name);
  if (setting == nullptr) {
    return fail(Errc::kInvalidArgument,
                fmt::format("{}: unknown setting {}; {}", shown, name, advice_for(name)));
  }
  const Result<void> assigned =
      assign(*setting, value, SettingSource::kFlag, fmt::format("flag {}", shown));
  if (!assigned) {
    const std::string what = shown == flag_name(name) ? shown : fmt::format("{} {}", shown, name);
    return fail(assigned.error().code, fmt::format("{} {}", what, assigned.error().message));
  }
  return {};
}

Result<void> Config::apply_origin(const std::string& origin, std::string_view name,
                                  std::string_view value) {
  Setting* setting = find(name);
  HALITE_CHECK(setting != nullptr, "the settings of other files are declared");
  const Result<void> assigned = assign(*setting, value, SettingSource::kFile, origin);
  if (!assigned) {
    return fail(assigned.error().code,
                fmt::format("{}: {} {}", origin, name, assigned.error().message));
  }
  return {};
}

std::string Config::print() const {
  std::size_t width = 0;
  const auto line_of = [](const Setting& setting) {
    const std::string value = setting.quoted ? toml_string(setting.text) : setting.text;
    return fmt::format("{} = {}", setting.name, value);
  };
  for (const Setting& setting : settings_) width = std::max(width, line_of(setting).size());
  width = std::min(width, kCommentColumnMax);
  std::string out;
  for (const Setting& setting : settings_) {
    const std::string standard =
        setting.quoted ? toml_string(setting.default_text) : setting.default_text;
    out += fmt::format("# {}{}\n{:<{}}  # {}default {}; from {}\n", setting.doc,
                       change_note(setting.change), line_of(setting), width,
                       setting.unit.empty() ? "" : setting.unit + "; ", standard, setting.origin);
  }
  return out;
}

}  // namespace halite
