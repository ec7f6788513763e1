#include "storage/tsdb/wal/log.h"

#include <utility>

#include "storage/tsdb/wal/log_impl.h"

namespace halite::storage {

Result<std::unique_ptr<Log>> Log::open(std::shared_ptr<FileSystem> files, const LogOptions& options,
                                       const ReplayCallbacks& replay,
                                       prometheus::Registry& registry) {
  auto impl = std::make_unique<Impl>(std::move(files), options, registry);
  TRY_VOID(impl->open(replay));
  return std::unique_ptr<Log>(new Log(std::move(impl)));
}

Log::Log(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Log::~Log() = default;

const ReplayReport& Log::replayed() const { return impl_->report(); }
Result<Sequence> Log::append(BytesView payload) { return impl_->append(payload); }
Result<Log::Admission> Log::admit() const {
  TRY_VOID(impl_->health());
  return Admission();
}
Sequence Log::append(Admission /*admission*/, BytesView payload) {
  return impl_->append_admitted(payload);
}
Completion Log::durable(Sequence sequence) { return impl_->durable(sequence); }
void Log::request_sync() { impl_->request_sync(); }
Task<void> Log::wait_for_space() { return impl_->wait_for_space(); }
Sequence Log::cut() { return impl_->cut(); }

Result<void> Log::truncate_upto(Sequence sequence) {
  return impl_->run_job(
      [sequence](log_format::Segments& segments) { return segments.truncate_upto(sequence); });
}

Result<void> Log::shrink() {
  return impl_->run_job([](log_format::Segments& segments) { return segments.shrink(); });
}

Result<void> Log::close() { return impl_->close(); }
Sequence Log::last() const { return impl_->last(); }
Sequence Log::synced() const { return impl_->synced(); }
Result<void> Log::health() const { return impl_->health(); }
bool Log::full() const { return impl_->full(); }
std::uint64_t Log::disk_bytes() const { return impl_->disk_bytes(); }

}  // namespace halite::storage
