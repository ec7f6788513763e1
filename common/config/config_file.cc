#include "common/config/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <tuple>

#include <fmt/format.h>
#include <toml++/toml.h>

namespace halite {
namespace {

Result<void> collect(const toml::table& table, const std::string& prefix, const std::string& path,
                     std::vector<FileSetting>& settings) {
  for (const auto& [key, node] : table) {
    const std::string name = prefix + std::string(key.str());
    const std::size_t line = node.source().begin.line;
    if (const toml::table* inner = node.as_table()) {
      TRY_VOID(collect(*inner, name + ".", path, settings));
    } else if (const auto* text = node.as_string()) {
      settings.push_back({name, text->get(), line});
    } else if (const auto* number = node.as_integer()) {
      settings.push_back({name, fmt::format("{}", number->get()), line});
    } else if (const auto* flag = node.as_boolean()) {
      settings.push_back({name, flag->get() ? "true" : "false", line});
    } else {
      return fail(
          Errc::kInvalidArgument,
          fmt::format("{}:{}: {} must be a text, a whole number, true or false", path, line, name));
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
    return fail(Errc::kInvalidArgument,
                fmt::format("{}:{}: {}", path, error.source().begin.line, error.description()));
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
