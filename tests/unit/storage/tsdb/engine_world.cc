#include "tests/unit/storage/tsdb/engine_world.h"

#include <vector>

#include <fmt/format.h>

#include "tests/support/run_task.h"

namespace halite::test {

using storage::Block;
using storage::CyclicLayout;
using storage::EngineStore;
using storage::RocksOptions;
using storage::RocksStore;
using storage::SeriesId;

Result<void> EngineWorld::open() {
  RocksOptions rocks;
  rocks.dir = "/data/rocks";
  rocks.files = files;
  rocks.read_threads = 1;
  TRY(rows, RocksStore::open(rocks, clock, metrics));
  options.dir = "/data/engine";
  TRY(auto cyclic, CyclicLayout::make(layout));
  EngineStore::Dependencies dependencies{.store = *rows,
                                         .layout = std::move(cyclic),
                                         .clock = clock,
                                         .files = files,
                                         .registry = metrics};
  auto opened = run_task(EngineStore::open(std::move(dependencies), options));
  if (!opened) {
    std::ignore = close();  // the first error is the one to tell
    return std::unexpected(opened.error());
  }
  points = std::move(*opened);
  return {};
}

Result<void> EngineWorld::close() {
  Result<void> closed;
  if (points != nullptr) closed = run_task(points->close());
  points.reset();
  Result<void> rows_closed;
  if (rows != nullptr) rows_closed = run_task(rows->close());
  rows.reset();
  return closed ? rows_closed : closed;
}

Result<std::vector<SeriesId>> EngineWorld::intern(const std::vector<std::string>& hosts) {
  std::vector<SeriesName> names;
  names.reserve(hosts.size());
  for (const std::string& host : hosts) {
    names.push_back({.metric = "m", .tags = {{.key = "host", .value = host}}});
  }
  TRY(auto interned, run_task(points->intern(std::move(names), storage::CreateNames())));
  std::vector<SeriesId> ids;
  for (const auto& id : interned) {
    if (!id) return std::unexpected(id.error());
    ids.push_back(*id);
  }
  return ids;
}

Result<WorldPoints> EngineWorld::read(TimestampMs since) {
  storage::SeriesQuery query;
  query.metric = "m";
  query.since = since;
  const auto selection = run_task(points->select(std::move(query), {}));
  WorldPoints found;
  if (!selection) {
    if (selection.error().code == Errc::kNotFound) return found;
    return std::unexpected(selection.error());
  }
  for (std::uint32_t shard = 0; shard < points->shard_count(); ++shard) {
    const auto scan = points->scan(*selection, {.begin = since, .end = INT64_MAX}, shard);
    while (true) {
      TRY(const std::vector<Block> blocks, run_task(scan->next()));
      if (blocks.empty()) break;
      for (const Block& block : blocks) {
        const std::string host(points->series(block.series).tags[0].value);
        for (std::size_t i = 0; i < block.size(); ++i) {
          const WorldValue value{.bits = block.values[i], .is_float = block.floats[i]};
          if (!found.try_emplace({host, block.times[i]}, value).second) {
            return fail(Errc::kInternal, fmt::format("{} at {} comes twice", host, block.times[i]));
          }
        }
      }
    }
  }
  return found;
}

}  // namespace halite::test
