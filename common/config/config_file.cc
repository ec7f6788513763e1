#include "common/config/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <tuple>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace halite {
namespace {

// The reason of toml++, with what to do.
std::string reason_of(std::string_view description) {
  constexpr std::string_view kTable = "cannot redefine existing table '";
  constexpr std::string_view kWhile = "Error while parsing ";
  if (const std::size_t at = description.find(kTable); at != std::string_view::npos) {
    const std::string_view rest = description.substr(at + kTable.size());
    return fmt::format(
        "[{0}] cannot begin here: lines above set {0} by another [{0}] or by {0}.NAME; keep one "
        "[{0}], or only {0}.NAME",
        rest.substr(0, rest.find('\'')));
  }
  if (description.contains("cannot redefine existing")) {
    return "the name is set twice; remove one of the two lines";
  }
  if (description.contains("unescaped control characters")) {
    return "a text has no closing quote on its line; write NAME = \"VALUE\"";
  }
  if (description.starts_with(kWhile)) description.remove_prefix(kWhile.size());
  std::string reason = fmt::format("not valid TOML: {}", description);
  std::erase(reason, '\n');
  return reason + "; write NAME = VALUE, texts in quotes, or [TABLE]";
}

bool is_table_list(const toml::array& nodes) {
  return !nodes.empty() && nodes.is_homogeneous(toml::node_type::table);
}

std::string json_of(const toml::array& tables) {
  std::ostringstream text;
  text << toml::json_formatter(tables, toml::format_flags::none);
  return std::move(text).str();
}

// The texts of a list with commas between them; empty if it contains anything else.
std::string joined(const toml::array& nodes) {
  std::string text;
  if (!nodes.is_homogeneous(toml::node_type::string)) return text;
  for (const toml::node& node : nodes) {
    if (!text.empty()) text += ',';
    text += node.as_string()->get();
  }
  return text;
}

std::string wrong_type(const toml::node& node) {
  const toml::array* const list = node.as_array();
  const std::string texts = list == nullptr ? std::string() : joined(*list);
  if (texts.empty()) return "must be a text, a number, true or false";
  return fmt::format("must be one text instead of a list, usually with commas: \"{}\"", texts);
}

Result<void> collect(const toml::table& table, const std::string& prefix, const std::string& path,
                     std::vector<FileSetting>& settings) {
  const std::size_t table_line = prefix.empty() ? 0 : table.source().begin.line;
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const std::size_t line = node.source().begin.line;
    if (const toml::table* inner = node.as_table()) {
      if (inner->empty()) settings.push_back({name, "", line, table_line, true});
      TRY_VOID(collect(*inner, name + ".", path, settings));
    } else if (const auto* tables = node.as_array(); tables != nullptr && is_table_list(*tables)) {
      settings.push_back({name, json_of(*tables), line, table_line});
    } else if (const auto* text = node.as_string()) {
      settings.push_back({name, text->get(), line, table_line});
    } else if (const auto* number = node.as_integer()) {
      settings.push_back({name, fmt::format("{}", number->get()), line, table_line});
    } else if (const auto* fraction = node.as_floating_point()) {
      settings.push_back({name, fmt::format("{}", fraction->get()), line, table_line});
    } else if (const auto* flag = node.as_boolean()) {
      settings.push_back({name, flag->get() ? "true" : "false", line, table_line});
    } else {
      return fail(Errc::kInvalidArgument,
                  fmt::format("{}:{}: {} {}", path, line, name, wrong_type(node)));
    }
  }
  return {};
}

}  // namespace

Result<std::vector<FileSetting>> parse_config_text(std::string_view text, const std::string& path) {
  std::vector<FileSetting> settings;
  try {
    const toml::table table = toml::parse(text, path);
    TRY_VOID(collect(table, "", path, settings));
  } catch (const toml::parse_error& error) {
    return fail(Errc::kInvalidArgument, fmt::format("{}:{}: {}", path, error.source().begin.line,
                                                    reason_of(error.description())));
  }
  std::ranges::sort(settings, {}, [](const FileSetting& setting) {
    return std::tie(setting.line, setting.name);
  });
  return settings;
}

Result<std::vector<FileSetting>> read_config_file(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("the configuration file {} is a directory", path));
  }
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) {
    return fail(Errc::kNotFound,
                fmt::format("cannot read the configuration file {}: {}", path,
                            std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe): start-up
  }
  return parse_config_text(text, path);
}

}  // namespace halite
