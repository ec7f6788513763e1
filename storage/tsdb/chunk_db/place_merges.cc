#include "storage/tsdb/chunk_db/place_merges.h"

#include <map>
#include <optional>

namespace halite::storage::engine {
namespace {

struct PlaceFiles {
  std::uint64_t fresh = 0;
  std::uint64_t fresh_bytes = 0;
  std::uint64_t merged_bytes = 0;
};

std::optional<Place> place_of(const std::string& key) {
  if (key.size() < 5) return std::nullopt;
  return Place{.shard = load_be<std::uint8_t>(key.data()),
               .slot = load_be<std::uint32_t>(key.data() + 1)};
}

// What came for them is to be sealed first.
std::set<Place> unsealed_places(const UnsealedSlots& lines) {
  std::set<Place> places;
  for (const auto& [lap, what] : lines) {
    const bool sealed_early = what.begin_ms >= what.end_ms && !what.without_summary;
    if (!what.late && !sealed_early) places.insert({.shard = lap.shard, .slot = lap.slot});
  }
  return places;
}

}  // namespace

std::set<Place> places_to_merge(rocksdb::DB& db, rocksdb::ColumnFamilyHandle* chunks,
                                const UnsealedSlots& lines, const MergeRule& rule) {
  rocksdb::ColumnFamilyMetaData meta;
  db.GetColumnFamilyMetaData(chunks, &meta);
  std::map<Place, PlaceFiles> places;
  for (const rocksdb::LevelMetaData& level : meta.levels) {
    for (const rocksdb::SstFileMetaData& file : level.files) {
      const std::optional<Place> place = place_of(file.smallestkey);
      if (!place || place != place_of(file.largestkey)) continue;  // of a flush, into several
      PlaceFiles& files = places[*place];
      if (level.level == 0) {
        ++files.fresh;
        files.fresh_bytes += file.size;
      } else {
        files.merged_bytes += file.size;
      }
    }
  }
  const std::set<Place> unsealed = unsealed_places(lines);
  std::set<Place> wanted;
  for (const auto& [place, files] : places) {
    if (files.fresh == 0 || unsealed.contains(place)) continue;
    if (files.fresh >= rule.fresh_files ||
        files.fresh_bytes * 100 >= files.merged_bytes * rule.fresh_percent) {
      wanted.insert(place);
    }
  }
  return wanted;
}

}  // namespace halite::storage::engine
