// The kinds of store for points: the setting `store`.
#pragma once

#include <cstdint>
#include <string_view>

namespace halite::app {

enum class StoreKind : std::uint8_t { kEngine, kRocksDb, kMemory, kHBase };

// The name in the setting and in --store.
[[nodiscard]] constexpr std::string_view store_name(StoreKind kind) {
  switch (kind) {
    case StoreKind::kEngine:
      return "engine";
    case StoreKind::kRocksDb:
      return "rocksdb";
    case StoreKind::kMemory:
      return "memory";
    case StoreKind::kHBase:
      return "hbase";
  }
  return {};
}

// True if the store keeps points in files of a data directory.
[[nodiscard]] constexpr bool has_data_dir(StoreKind kind) {
  return kind == StoreKind::kEngine || kind == StoreKind::kRocksDb;
}

// The row layouts: the setting `storage.layout`.
enum class RowLayoutKind : std::uint8_t { kAuto, kCyclic, kOpentsdb };

}  // namespace halite::app
