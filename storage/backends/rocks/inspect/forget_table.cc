#include "storage/backends/rocks/inspect/forget_table.h"

#include <charconv>
#include <cstdint>
#include <memory>

#include <fmt/format.h>
#include <rocksdb/ldb_tool.h>
#include <rocksdb/utilities/ldb_cmd.h>

#include "storage/backends/rocks/files/info_log.h"

namespace halite::storage::rocks {

Result<void> forget_table(rocksdb::Env* env, const std::string& dir, const std::string& name) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || std::string(end, name.data() + name.size()) != ".sst") {
    return fail(Errc::kNotFound, fmt::format("{} is not a table", name));
  }
  rocksdb::Options options;
  options.env = env;
  options.info_log = make_info_log();
  // RocksDB offers this only as a command of its tool.
  const std::unique_ptr<rocksdb::LDBCommand> command(rocksdb::LDBCommand::InitFromCmdLineArgs(
      {"--db=" + dir, "unsafe_remove_sst_file", std::to_string(number)}, options,
      rocksdb::LDBOptions(), nullptr));
  if (command == nullptr) return fail(Errc::kInternal, "RocksDB cannot remove tables");
  command->Run();
  rocksdb::LDBCommandExecuteResult outcome = command->GetExecuteState();
  if (!outcome.IsFailed()) return {};
  return fail(Errc::kCorruption,
              fmt::format("cannot remove {} from {}: {}", name, dir, outcome.ToString()));
}

}  // namespace halite::storage::rocks
