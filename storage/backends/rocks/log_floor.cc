#include "storage/backends/rocks/log_floor.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <rocksdb/db.h>
#include <rocksdb/wal_filter.h>

#include "storage/backends/rocks/cell.h"
#include "storage/backends/rocks/files/info_log.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/key.h"

namespace halite::storage::rocks {

namespace {

// RocksDB passes the log number of each family to a filter before it replays. Nothing is replayed.
class FloorReader final : public rocksdb::WalFilter {
 public:
  [[nodiscard]] const char* Name() const override { return "halite.log-floor"; }

  void ColumnFamilyLogNumberMap(const std::map<std::uint32_t, std::uint64_t>& numbers,
                                const std::map<std::string, std::uint32_t>&) override {
    for (const auto& [family, number] : numbers) floor_ = std::min(floor_, number);
  }

  // NOLINTNEXTLINE(google-runtime-int): RocksDB's own type
  WalProcessingOption LogRecordFound(unsigned long long, const std::string&,
                                     const rocksdb::WriteBatch&, rocksdb::WriteBatch*,
                                     bool*) override {
    return WalProcessingOption::kStopReplay;
  }

  [[nodiscard]] std::uint64_t floor() const { return floor_; }

 private:
  std::uint64_t floor_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace

Result<std::uint64_t> log_floor(rocksdb::Env* env, const std::string& dir,
                                const std::vector<std::string>& families) {
  FloorReader reader;
  rocksdb::DBOptions options;
  options.env = env;
  options.wal_filter = &reader;
  options.max_open_files = 20;
  options.max_file_opening_threads = 1;  // few files need only one thread
  options.info_log = make_info_log();
  rocksdb::ColumnFamilyOptions family;
  family.merge_operator = greatest_time_operator();
  family.prefix_extractor = row_prefix_extractor();
  std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
  for (const std::string& name : families) wanted.emplace_back(name, family);
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status =
      rocksdb::DB::OpenForReadOnly(options, dir, wanted, &handles, &opened);
  const std::unique_ptr<rocksdb::DB> db(opened);
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  TRY_VOID(checked(status, fmt::format("cannot read {}", dir)));
  // RocksDB named no floor: every log counts.
  return reader.floor() == std::numeric_limits<std::uint64_t>::max() ? 0 : reader.floor();
}

}  // namespace halite::storage::rocks
