#include "storage/tsdb/wal/log.h"

#include <utility>

#include "storage/tsdb/wal/log_core.h"

namespace halite::storage {

Result<std::unique_ptr<Log>> Log::open(std::shared_ptr<FileSystem> files, const LogOptions& options,
                                       const ReplayCallbacks& replay,
                                       prometheus::Registry& registry) {
  auto core = std::make_unique<Core>(std::move(files), options, registry);
  TRY_VOID(core->open(replay));
  return std::unique_ptr<Log>(new Log(std::move(core)));
}

Log::Log(std::unique_ptr<Core> core) : core_(std::move(core)) {}
Log::~Log() = default;

const ReplayReport& Log::replayed() const { return core_->report(); }
Result<Sequence> Log::append(BytesView payload) { return core_->append(payload); }
Result<Log::Admission> Log::admit() const {
  TRY_VOID(core_->health());
  return Admission();
}
Sequence Log::append(Admission /*admission*/, BytesView payload) {
  return core_->append_admitted(payload);
}
Completion Log::durable(Sequence sequence) { return core_->durable(sequence); }
void Log::hurry() { core_->hurry(); }
Task<void> Log::room() { return core_->room(); }
Sequence Log::cut() { return core_->cut(); }

Result<void> Log::drop_upto(Sequence sequence) {
  return core_->run_job(
      [sequence](log_format::Segments& segments) { return segments.drop_upto(sequence); });
}

Result<void> Log::shrink() {
  return core_->run_job([](log_format::Segments& segments) { return segments.shrink(); });
}

Result<void> Log::close() { return core_->close(); }
Sequence Log::last() const { return core_->last(); }
Sequence Log::synced() const { return core_->synced(); }
Result<void> Log::health() const { return core_->health(); }
bool Log::full() const { return core_->full(); }
std::uint64_t Log::disk_bytes() const { return core_->disk_bytes(); }

}  // namespace halite::storage
