#include "storage/tsdb/chunk_db/tables/file_shards.h"

#include <algorithm>
#include <cstdint>

namespace halite::storage::engine {
namespace {

constexpr const char* kProperty = "halite.shards";

class ShardCollector final : public rocksdb::TablePropertiesCollector {
 public:
  rocksdb::Status AddUserKey(const rocksdb::Slice& key, const rocksdb::Slice& /*value*/,
                             rocksdb::EntryType /*type*/, rocksdb::SequenceNumber /*sequence*/,
                             std::uint64_t /*file_size*/) override {
    if (key.empty()) {
      any_shard_ = true;
      return rocksdb::Status::OK();
    }
    const auto shard = static_cast<std::uint8_t>(key[0]);
    first_ = std::min(first_, shard);
    last_ = std::max(last_, shard);
    return rocksdb::Status::OK();
  }

  rocksdb::Status Finish(rocksdb::UserCollectedProperties* properties) override {
    for (const auto& [name, value] : GetReadableProperties()) properties->emplace(name, value);
    return rocksdb::Status::OK();
  }

  [[nodiscard]] rocksdb::UserCollectedProperties GetReadableProperties() const override {
    if (any_shard_ || first_ > last_) return {};
    return {{kProperty, {static_cast<char>(first_), static_cast<char>(last_)}}};
  }

  [[nodiscard]] const char* Name() const override { return kProperty; }

 private:
  std::uint8_t first_ = 0xFF;
  std::uint8_t last_ = 0;
  bool any_shard_ = false;
};

class ShardCollectorFactory final : public rocksdb::TablePropertiesCollectorFactory {
 public:
  rocksdb::TablePropertiesCollector* CreateTablePropertiesCollector(Context /*context*/) override {
    return new ShardCollector;  // RocksDB deletes it
  }
  [[nodiscard]] const char* Name() const override { return kProperty; }
};

}  // namespace

std::shared_ptr<rocksdb::TablePropertiesCollectorFactory> note_file_shards() {
  return std::make_shared<ShardCollectorFactory>();
}

std::function<bool(const rocksdb::TableProperties&)> files_of_shards(BytesView begin,
                                                                     BytesView end) {
  const std::uint8_t first = begin.empty() ? 0 : static_cast<std::uint8_t>(begin[0]);
  std::uint8_t last = end.empty() ? 0xFF : static_cast<std::uint8_t>(end[0]);
  if (end.size() == 1 && last > first) --last;  // no key of that shard is below `end`
  return [first, last](const rocksdb::TableProperties& file) {
    const auto found = file.user_collected_properties.find(kProperty);
    if (found == file.user_collected_properties.end() || found->second.size() != 2) return true;
    return static_cast<std::uint8_t>(found->second[0]) <= last &&
           static_cast<std::uint8_t>(found->second[1]) >= first;
  };
}

}  // namespace halite::storage::engine
