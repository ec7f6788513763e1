#include "storage/backends/rocks/files/info_log.h"

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "common/log.h"

namespace halite::storage::rocks {
namespace {

constexpr std::size_t kMessageBytesMax = 2048;

// Warnings of RocksDB's in healthy databases.
constexpr auto kUsual = std::to_array<std::string_view>({
    // Files written outside of a database and then ingested have no such id: all files of chunks.
    "SST file opened without unique ID",
    // Two want the files of one moment, as for a backup.
    "File Deletions Disabled, but already disabled",
    "File Deletions Enable, but not really enabled",
});

class InfoLog final : public rocksdb::Logger {
 public:
  InfoLog() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  // RocksDB logs its header (options, statistics) without a level.
  void Logv(const char* /*format*/, std::va_list /*arguments*/) override {}

  void Logv(rocksdb::InfoLogLevel level, const char* format, std::va_list arguments) override {
    if (level < GetInfoLogLevel() || level == rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    std::array<char, kMessageBytesMax> message{};
    std::vsnprintf(message.data(), message.size(), format, arguments);
    const std::string_view text = message.data();
    if (std::ranges::any_of(kUsual, [&](auto usual) { return text.contains(usual); })) return;
    if (level == rocksdb::InfoLogLevel::WARN_LEVEL) {
      log::warn("rocksdb: {}", text);
    } else {
      log::error("rocksdb: {}", text);
    }
  }
  using rocksdb::Logger::Logv;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_info_log() { return std::make_shared<InfoLog>(); }

}  // namespace halite::storage::rocks
