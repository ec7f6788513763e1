// `halite migrate`: copies the points of one store or server to another, and compares both.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/bulk/open_source.h"
#include "app/client/http_client.h"
#include "app/settings/options.h"
#include "app/tools/print.h"

namespace halite::app {

struct MigrateFlags {
  SourceFlags source;  // its URL is empty if the source is a store
  std::string to_url;  // of a server; empty: a store
  PeerFiles to_peer;
  std::string task;        // identifies the migration
  std::string checkpoint;  // file; empty: kMigrateCheckpoint in the current directory
  std::string errors;      // file of refused series; empty: none
  double checkpoint_interval_s = 20;
  bool copy = true;  // false: only compares
  bool resume = false;
  bool verify = false;
  bool follow = false;
  std::int64_t quiet_ms = 120'000;      // follow until the source had nothing new for so long
  std::int64_t overlap_ms = 3'600'000;  // late points that are followed
  bool quiet = false;                   // shows no progress
  unsigned jobs = 0;                    // threads; 0: one for each processor
};

inline constexpr const char* kMigrateCheckpoint = "halite-migrate.checkpoint";

// The exit status.
enum class MigrateStatus : std::uint8_t {
  kSame = 0,       // all points copied; with verify, the target has all points of the source
  kDifferent = 1,  // some points are refused, missing or different
  kFailed = 2,     // nothing done or compared, or it stopped early: `--resume` continues
};

[[nodiscard]] MigrateStatus migrate_points(const Options& from, const Options& to,
                                           const MigrateFlags& flags, const Print& out,
                                           const Print& err);

}  // namespace halite::app
