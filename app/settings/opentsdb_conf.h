// opentsdb.conf: maps OpenTSDB's keys to Halite's settings.
//
//   TRY(options.opentsdb, apply_opentsdb_conf("opentsdb.conf", config));
//
// Settings get the file's values and, for keys that it omits, OpenTSDB's defaults: metric names are
// not created on first use, a point has up to 8 tags, rows have HBase's layout. A TOML file, the
// environment and flags override it.
//
// If OpenTSDB's default only guards against its own weakness, Halite's default stays until the file
// names the key: bodies over 8 KiB are accepted, errors contain no stack trace.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/config/config.h"
#include "common/java/java_properties.h"
#include "common/result.h"

namespace halite::app {

struct OpentsdbConf {
  bool given = false;
  std::map<std::string, std::string> properties;  // with defaults, as in /api/config
  std::vector<std::string> meaningless;           // known keys in the file without effect, and why
  std::vector<std::string> unknown;  // other keys in the file, by line, and what may be meant
};

// kNotFound: no such file. kInvalidArgument: an invalid value for its key, with its line.
[[nodiscard]] Result<OpentsdbConf> apply_opentsdb_conf(const std::string& path, Config& config);

// For properties already read from `path`.
[[nodiscard]] Result<OpentsdbConf> apply_opentsdb_properties(
    const std::vector<JavaProperty>& properties, const std::string& path, Config& config);

}  // namespace halite::app
