#include "storage/tsdb/core/name_log.h"

#include "storage/tsdb/wal/records.h"

namespace halite::storage::engine {

Result<void> EngineNameLog::append(std::span<const NewName> names) {
  Bytes record;
  for (const NewName& name : names) {
    log_records::append_name(
        record, {.kind = static_cast<std::uint8_t>(name.kind), .uid = name.uid, .name = name.name});
  }
  TRY(const Sequence sequence, log_.append(record));
  static_cast<void>(sequence);  // records that use these names come later
  return {};
}

Task<void> EngineNameLog::durable() {
  const Completion durable = log_.durable(log_.last());
  log_.request_sync();
  co_return co_await durable.wait();
}

}  // namespace halite::storage::engine
