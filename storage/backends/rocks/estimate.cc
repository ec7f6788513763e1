#include "storage/backends/rocks/estimate.h"

#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/key.h"

namespace halite::storage::rocks {

namespace {

std::uint64_t property(Database& database, const FamilyHandle& family, const std::string& name) {
  std::uint64_t value = 0;
  return database.db().GetIntProperty(family.column_family, name, &value) ? value : 0;
}

std::uint64_t cells_in_memory(Database& database, const FamilyHandle& family) {
  using Properties = rocksdb::DB::Properties;
  return property(database, family, Properties::kNumEntriesActiveMemTable) +
         property(database, family, Properties::kNumEntriesImmMemTables);
}

// Cells for each byte of the files.
double cells_a_byte(Database& database, const FamilyHandle& family) {
  using Properties = rocksdb::DB::Properties;
  const std::uint64_t bytes = property(database, family, Properties::kLiveSstFilesSize);
  const std::uint64_t all = property(database, family, Properties::kEstimateNumKeys);
  const std::uint64_t in_memory = cells_in_memory(database, family);
  if (bytes == 0 || all <= in_memory) return 0;
  return static_cast<double>(all - in_memory) / static_cast<double>(bytes);
}

}  // namespace

Result<RangeEstimate> estimate_ranges(Database& database, const FamilyHandle& family,
                                      const std::vector<KeyRange>& ranges) {
  if (ranges.empty()) return RangeEstimate{};
  const Bytes behind_all(kRowKeyBytesMax, '\xff');
  std::vector<Bytes> keys;  // begin and end of each range
  keys.reserve(ranges.size() * 2);
  for (const KeyRange& range : ranges) {
    keys.push_back(range.begin.empty() ? Bytes() : row_prefix(range.begin));
    keys.push_back(range.end.empty() ? behind_all : row_prefix(range.end));
  }
  std::vector<rocksdb::Range> asked;
  asked.reserve(ranges.size());
  for (std::size_t i = 0; i < keys.size(); i += 2) asked.emplace_back(keys[i], keys[i + 1]);

  rocksdb::SizeApproximationOptions files;
  files.include_files = true;
  files.include_memtables = false;
  std::vector<std::uint64_t> sizes(asked.size());
  const rocksdb::Status status = database.db().GetApproximateSizes(
      files, family.column_family, asked.data(), static_cast<int>(asked.size()), sizes.data());
  TRY_VOID(checked(status, "cannot estimate"));
  RangeEstimate sum;
  for (const std::uint64_t size : sizes) sum.bytes += size;
  sum.cells =
      static_cast<std::uint64_t>(static_cast<double>(sum.bytes) * cells_a_byte(database, family));
  RangeEstimate memory;
  for (const rocksdb::Range& range : asked) {
    std::uint64_t cells = 0;
    std::uint64_t bytes = 0;
    database.db().GetApproximateMemTableStats(family.column_family, range, &cells, &bytes);
    memory.cells += cells;
    memory.bytes += bytes;
  }
  // RocksDB estimates a range from the height of the skip list at its ends. The result may exceed
  // the total.
  const std::uint64_t most = cells_in_memory(database, family);
  if (memory.cells > most) {
    memory.bytes = memory.bytes / memory.cells * most;
    memory.cells = most;
  }
  sum.cells += memory.cells;
  sum.bytes += memory.bytes;
  return sum;
}

}  // namespace halite::storage::rocks
