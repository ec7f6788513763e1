#include "storage/tools/check/rocks_files.h"

#include <rocksdb/db.h>

#include "storage/backends/rocks/files/info_log.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/inspect/manifest_tail.h"
#include "storage/backends/rocks/inspect/wal_check.h"
#include "storage/backends/rocks/log_floor.h"

namespace halite::storage::check {
namespace {

Result<void> check_manifest(FileSystem& files, const std::string& dir,
                            std::vector<Finding>& findings) {
  TRY(const rocks::ManifestLook look, rocks::look_at_manifest(files, dir));
  if (look.manifest.empty()) {
    findings.push_back({.file = dir + "/CURRENT",
                        .what = "is missing, or does not name the manifest: the server does not "
                                "start"});
  } else if (look.bad_offset) {
    findings.push_back({.file = look.manifest,
                        .offset = look.bad_offset,
                        .what = look.torn ? "the end is incomplete: the server removes it, and "
                                            "starts if no data depends on it"
                                          : "a record is damaged: the server does not start",
                        .may_be_torn = look.torn});
  }
  return {};
}

}  // namespace

Result<std::uint64_t> lowest_log_needed(rocksdb::Env* env, const std::string& dir) {
  rocksdb::DBOptions options;
  options.env = env;
  options.info_log = rocks::make_info_log();
  std::vector<std::string> families;
  TRY_VOID(rocks::checked(rocksdb::DB::ListColumnFamilies(options, dir, &families),
                          "cannot read the manifest of " + dir));
  return rocks::log_floor(env, dir, families);
}

Result<std::vector<Finding>> check_rocks_files(FileSystem& files, rocksdb::Env* env,
                                               const std::string& dir) {
  std::vector<Finding> findings;
  TRY_VOID(check_manifest(files, dir, findings));
  // If the lowest needed log is unknown, check every log.
  const auto floor = [env, &dir]() -> Result<std::uint64_t> {
    return lowest_log_needed(env, dir).value_or(0);
  };
  TRY(const std::vector<rocks::LogDefect> defects, rocks::find_log_defects(files, dir, floor));
  for (const rocks::LogDefect& trouble : defects) {
    findings.push_back({.file = trouble.path,
                        .offset = trouble.scan.bad_offset,
                        .what = trouble.damaged
                                    ? "a record is damaged, and acknowledged writes follow: the "
                                      "server does not start"
                                    : "the last write is incomplete: the server removes it",
                        .may_be_torn = !trouble.damaged});
  }
  return findings;
}

}  // namespace halite::storage::check
