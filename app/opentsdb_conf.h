// opentsdb.conf: what its keys mean here.
//
//   TRY(options.opentsdb, apply_opentsdb_conf("opentsdb.conf", config));
//
// Settings become what the file says and, for every key it does not name, OpenTSDB's default: names
// of metrics are not created on first use, a point has up to 8 tags, rows are laid out as in HBase.
// A TOML file, the environment and flags still win over it.
//
// Where OpenTSDB's default only guards against its own weakness, ours stays until the file names
// the key: bodies over 8 KiB are taken, errors carry no stack trace.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/config.h"
#include "common/java_properties.h"
#include "common/result.h"

namespace halite::app {

struct OpentsdbConf {
  bool given = false;
  std::map<std::string, std::string> properties;  // the file's, with defaults: as /api/config shows
  std::vector<std::string> meaningless;  // known keys of the file that change nothing, and why
};

// kNotFound: no such file. kInvalidArgument: a value that its key does not take, with its line.
[[nodiscard]] Result<OpentsdbConf> apply_opentsdb_conf(const std::string& path, Config& config);

// The same, of properties that stand in `path`.
[[nodiscard]] Result<OpentsdbConf> apply_opentsdb_properties(
    const std::vector<JavaProperty>& properties, const std::string& path, Config& config);

}  // namespace halite::app
