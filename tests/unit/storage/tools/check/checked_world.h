// A store of the engine's with everything in it, and its check.
#pragma once

#include <algorithm>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/tools/check/check.h"
#include "tests/unit/storage/tsdb/damaged_world.h"

namespace halite::storage {

inline constexpr const char* kNames = "/data/rocks";
inline constexpr const char* kLog = "/data/engine/log";

inline check::CheckOptions check_options(const std::shared_ptr<FileSystem>& files) {
  check::CheckOptions options;
  options.files = files;
  options.rocks_dir = kNames;
  options.engine_dir = "/data/engine";
  return options;
}

inline check::Report checked(Damaged& data) {
  Result<check::Report> report = check::check_stored(check_options(data.world.files));
  EXPECT_TRUE(report) << report.error().message;
  return report ? *std::move(report) : check::Report();
}

inline std::string text_of(const check::Report& report) {
  std::string text;
  for (const check::Finding& finding : report.findings) {
    text += fmt::format("{} at {}: {}\n", finding.file, finding.offset.value_or(0), finding.what);
  }
  return text;
}

inline bool names(const check::Report& report, const std::string& file) {
  return std::ranges::any_of(report.findings,
                             [&](const auto& finding) { return finding.file == file; });
}

}  // namespace halite::storage
