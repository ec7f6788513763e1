#include "storage/backends/rocks/files/write_recovery.h"

#include <chrono>

#include <rocksdb/io_status.h>
#include <rocksdb/version.h>

namespace halite::storage::rocks {
namespace {

constexpr std::chrono::milliseconds kRetryEvery(100);
constexpr std::chrono::seconds kEndMax(2);
constexpr bool kCallsOnceAfterSuccess = ROCKSDB_MAJOR >= 8;

// The errors after which RocksDB 7.8 retries (ErrorHandler::SetBGError). It has no call for this.
bool is_tried_again(const rocksdb::Status& error) {
  const rocksdb::IOStatus io = rocksdb::status_to_io_status(rocksdb::Status(error));
  const bool of_file = io.GetScope() == rocksdb::IOStatus::IOErrorScope::kIOErrorScopeFile;
  if (io.subcode() == rocksdb::IOStatus::SubCode::kNoSpace) return false;
  return of_file || (io.GetRetryable() && !io.GetDataLoss());
}

}  // namespace

void WriteRecovery::set_up(rocksdb::DBOptions& options) {
  options.bgerror_resume_retry_interval =
      std::chrono::duration_cast<std::chrono::microseconds>(kRetryEvery).count();
  options.avoid_flush_during_shutdown =
      true;  // unlogged data is not needed after a close (lasting_write.h)
}

bool WriteRecovery::stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void WriteRecovery::end(WriteFence& write_fence) {
  std::unique_lock lock(mutex_);
  if (!retrying_) return;
  write_fence.freeze();
  changed_.wait_for(lock, kEndMax, [this] { return !retrying_; });
}

void WriteRecovery::OnBackgroundError(rocksdb::BackgroundErrorReason reason,
                                      rocksdb::Status* error) {
  if (reason == rocksdb::BackgroundErrorReason::kCompaction) return;  // RocksDB schedules it again
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  retrying_ = retrying_ || is_tried_again(*error);
}

// RocksDB 7.8 calls this twice after a success: before it takes files again, with an error that has
// passed, and afterwards, without an error. 8.9 and 9.10 call it once, afterwards. All call it
// once after each end without success.
void WriteRecovery::OnErrorRecoveryEnd(const rocksdb::BackgroundErrorRecoveryInfo& info) {
  const std::lock_guard lock(mutex_);
  const bool passed = !info.old_bg_error.ok() && info.new_bg_error.ok();
  const bool is_last = kCallsOnceAfterSuccess || !passed;
  stopped_ = !info.new_bg_error.ok() || !is_last;
  retrying_ = passed && !is_last;
  changed_.notify_all();
}

}  // namespace halite::storage::rocks
