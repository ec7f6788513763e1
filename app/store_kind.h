// The kinds of store that a server keeps its points in: the setting `store`.
#pragma once

#include <cstdint>
#include <string_view>

namespace halite::app {

enum class StoreKind : std::uint8_t { kEngine, kRocksDb, kMemory, kHBase };

// As the setting and the flag --store spell it.
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

// Whether the store keeps its points in files of a data directory.
[[nodiscard]] constexpr bool has_data_dir(StoreKind kind) {
  return kind == StoreKind::kEngine || kind == StoreKind::kRocksDb;
}

// How rows of cells are laid out: the setting `storage.layout`.
enum class RowLayoutKind : std::uint8_t { kAuto, kCyclic, kOpentsdb };

}  // namespace halite::app
