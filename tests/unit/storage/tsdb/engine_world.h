// An engine, its names and its clock on one disk that loses what was not synced.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include <prometheus/registry.h>

#include "common/data_point.h"
#include "storage/backends/rocks/rocks_store.h"
#include "storage/tsdb/engine_store.h"
#include "tests/support/faulty_files.h"

namespace halite::test {

struct WorldValue {
  ValueBits bits = 0;
  bool is_float = false;
  bool operator==(const WorldValue&) const = default;
};
using WorldKey = std::pair<std::string, TimestampMs>;  // the tag host's value, time
using WorldPoints = std::map<WorldKey, WorldValue>;

class EngineWorld {
 public:
  EngineWorld(std::uint32_t seed, TimestampMs now)
      : files(std::make_shared<FaultyFiles>(seed)), clock(now) {}

  // On an error nothing is left open.
  Result<void> open();

  // Good only where nothing was in the way.
  Result<void> close();

  void crash() {
    files->cut_power();
    std::ignore = close();  // it cannot end well; what matters is what the disk has
    files->restore_power();
  }

  // Series m{host=...}, made where they are new.
  Result<std::vector<storage::SeriesId>> intern(const std::vector<std::string>& hosts);

  // All points of the metric m from a time on; none if the metric is unknown. kInternal: a point is
  // returned twice.
  Result<WorldPoints> read(TimestampMs since = 0);

  // For the next open().
  storage::CyclicOptions layout;
  storage::EngineOptions options;

  const std::shared_ptr<FaultyFiles> files;
  FakeClock clock;
  prometheus::Registry metrics;
  std::unique_ptr<storage::RocksStore> rows;
  std::unique_ptr<storage::EngineStore> points;
};

}  // namespace halite::test
