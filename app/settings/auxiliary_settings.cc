#include "app/settings/auxiliary_settings.h"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "query/parse/aggregator.h"

namespace halite::app {
namespace {

// JSON, or the content of the named file.
Result<std::string> config_text(const std::string& setting, const std::string& value) {
  if (!value.ends_with(".json")) return value;
  std::ifstream file(value);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) {
    return fail(Errc::kNotFound, fmt::format("{}: cannot read the file \"{}\"", setting, value));
  }
  return std::move(text).str();
}

std::unexpected<Error> named(const std::string& setting, Error error) {
  error.message = fmt::format("{}: {}", setting, error.message);
  return std::unexpected(std::move(error));
}

}  // namespace

Result<std::optional<storage::RollupConfig>> rollup_config(const Options& options) {
  const std::string setting = "rollups.config";
  if (!options.rollups.enabled) return std::optional<storage::RollupConfig>();
  if (options.rollups.config.empty()) {
    return fail(Errc::kInvalidArgument,
                "Rollups are enabled but 'tsd.rollups.config' (rollups.config) is null or empty.");
  }
  TRY(const std::string text, config_text(setting, options.rollups.config));
  auto config = storage::parse_rollup_config(text, query::aggregator_names());
  if (!config) return named(setting, std::move(config).error());
  return std::optional(*std::move(config));
}

Result<std::optional<storage::HistogramConfig>> histogram_config(const Options& options) {
  const std::string setting = "histograms.config";
  if (options.histograms.empty()) return std::optional<storage::HistogramConfig>();
  TRY(const std::string text, config_text(setting, options.histograms));
  auto config = storage::parse_histogram_config(text);
  if (!config) return named(setting, std::move(config).error());
  return std::optional(*config);
}

}  // namespace halite::app
