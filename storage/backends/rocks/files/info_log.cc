#include "storage/backends/rocks/files/info_log.h"

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "common/log.h"

namespace halite::storage::rocks {
namespace {

constexpr std::size_t kMessageBytesMax = 2048;

// Files written outside of a database and then ingested have no such id: all files of chunks.
constexpr std::string_view kNoUniqueId = "SST file opened without unique ID";

class InfoLog final : public rocksdb::Logger {
 public:
  InfoLog() : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {}

  // RocksDB logs its header (options, statistics) without a level.
  void Logv(const char* /*format*/, std::va_list /*arguments*/) override {}

  void Logv(rocksdb::InfoLogLevel level, const char* format, std::va_list arguments) override {
    if (level < GetInfoLogLevel() || level == rocksdb::InfoLogLevel::HEADER_LEVEL) return;
    std::array<char, kMessageBytesMax> message{};
    std::vsnprintf(message.data(), message.size(), format, arguments);
    if (std::string_view(message.data()).contains(kNoUniqueId)) return;
    if (level == rocksdb::InfoLogLevel::WARN_LEVEL) {
      log::warn("rocksdb: {}", message.data());
    } else {
      log::error("rocksdb: {}", message.data());
    }
  }
  using rocksdb::Logger::Logv;
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_info_log() { return std::make_shared<InfoLog>(); }

}  // namespace halite::storage::rocks
