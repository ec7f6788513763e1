#include "storage/check/rocks_files.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/db.h>

#include "storage/rocks/info_log.h"
#include "storage/rocks/log_floor.h"
#include "storage/rocks/manifest_tail.h"
#include "storage/rocks/wal_check.h"

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
                        .what = look.torn ? "the end is not whole: the server cuts it off, and "
                                            "starts if nothing relied on it"
                                          : "a record is damaged: the server does not start",
                        .may_be_torn = look.torn});
  }
  return {};
}

// 0 where that cannot be told: every log counts.
Result<std::uint64_t> floor_of(rocksdb::Env* env, const std::string& dir) {
  rocksdb::DBOptions options;
  options.env = env;
  options.info_log = rocks::make_info_log();
  std::vector<std::string> families;
  if (!rocksdb::DB::ListColumnFamilies(options, dir, &families).ok()) return 0;
  return rocks::log_floor(env, dir, families).value_or(0);
}

}  // namespace

Result<std::vector<Finding>> check_rocks_files(FileSystem& files, rocksdb::Env* env,
                                               const std::string& dir) {
  std::vector<Finding> findings;
  TRY_VOID(check_manifest(files, dir, findings));
  const auto floor = [env, &dir] { return floor_of(env, dir); };
  TRY(const std::vector<rocks::LogTrouble> troubles, rocks::find_log_troubles(files, dir, floor));
  for (const rocks::LogTrouble& trouble : troubles) {
    findings.push_back({.file = trouble.path,
                        .offset = trouble.scan.bad_offset,
                        .what = trouble.damaged
                                    ? "a record is damaged, and acknowledged writes follow: the "
                                      "server does not start"
                                    : "the last write is not whole: the server cuts it off",
                        .may_be_torn = !trouble.damaged});
  }
  return findings;
}

}  // namespace halite::storage::check
