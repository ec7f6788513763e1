#include "storage/views/shared/view_lease.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "common/check.h"
#include "common/log.h"

namespace halite::storage {
namespace {

constexpr Family kLeaseFamily = 0;
constexpr std::size_t kNumberBytes = sizeof(std::uint64_t);
const Bytes kLeaseRow = "lease";
const Bytes kNobody(ViewLease::kIdBytes, '\0');

}  // namespace

ViewLease::ViewLease(std::shared_ptr<Table> table, Bytes id, std::string host, const Clock& clock)
    : table_(std::move(table)), id_(std::move(id)), host_(std::move(host)), clock_(clock) {
  HALITE_CHECK(id_.size() == kIdBytes && id_ != kNobody, "an id of a lease's holder");
}

Result<ViewLease::Stored> ViewLease::parse(BytesView value) {
  if (value.size() < kNumberBytes + kIdBytes) {
    return fail(Errc::kCorruption,
                fmt::format("the lease of the views has {} bytes, {} are the minimum", value.size(),
                            kNumberBytes + kIdBytes));
  }
  return Stored{.number = load_be<std::uint64_t>(value.data()),
                .id = Bytes(value.substr(kNumberBytes, kIdBytes)),
                .host = std::string(value.substr(kNumberBytes + kIdBytes))};
}

// Never equal to an earlier value, because its number is greater.
Bytes ViewLease::next_value(const std::optional<Bytes>& current, BytesView id) const {
  const std::uint64_t number = current ? load_be<std::uint64_t>(current->data()) : 0;
  Bytes value;
  append_be<std::uint64_t>(value, number + 1);
  value += id;
  if (id != kNobody) value += host_;
  return value;
}

Task<std::optional<Bytes>> ViewLease::read() {
  std::vector<RowRead> reads(1);
  reads[0] = {.row = kLeaseRow, .family = kLeaseFamily, .qualifiers = {Bytes()}};
  auto reading = table_->read(std::move(reads));
  CO_TRY(const std::vector<Row> rows, co_await std::move(reading));
  if (rows.front().cells.empty()) co_return std::nullopt;
  const Bytes& value = rows.front().cells.front().value;
  CO_TRY_VOID(parse(value));
  co_return std::optional(value);
}

Task<bool> ViewLease::replace(std::optional<Bytes> expected, Bytes value) {
  auto putting = table_->compare_and_put(kLeaseRow, {kLeaseFamily, {}}, std::move(expected), value);
  CO_TRY(const CasOutcome outcome, co_await std::move(putting));
  if (outcome != CasOutcome::kUnknown) co_return outcome == CasOutcome::kApplied;
  auto reading = read();
  CO_TRY(const std::optional<Bytes> current, co_await std::move(reading));
  co_return current == value;
}

Task<void> ViewLease::step() {
  const std::int64_t now_us = clock_.elapsed_us();
  bool held = false;
  {
    const std::lock_guard lock(mutex_);
    held = held_;
  }
  if (held) {
    auto renewing = renew(now_us);
    co_return co_await std::move(renewing);
  }
  auto watching = watch(now_us);
  co_return co_await std::move(watching);
}

Task<void> ViewLease::renew(std::int64_t now_us) {
  Bytes value = next_value(mine_, id_);
  auto replacing = replace(mine_, value);
  CO_TRY(const bool renewed, co_await std::move(replacing));
  if (renewed) {
    mine_ = std::move(value);
    const std::lock_guard lock(mutex_);
    renewed_us_ = now_us;
    co_return Result<void>{};
  }
  // An earlier renewal whose outcome was not known may have been applied.
  auto reading = read();
  CO_TRY(std::optional<Bytes> current, co_await std::move(reading));
  if (current && parse(*current).value().id == id_) {
    mine_ = *std::move(current);
    co_return Result<void>{};
  }
  lose();
  auto watching = watch(now_us);
  co_return co_await std::move(watching);
}

void ViewLease::lose() {
  watched_us_ = -1;
  const std::lock_guard lock(mutex_);
  held_ = false;
  holder_.clear();
  log::warn("another server computes the views now");
}

Task<void> ViewLease::watch(std::int64_t now_us) {
  auto reading = read();
  CO_TRY(std::optional<Bytes> current, co_await std::move(reading));
  bool is_free = !current;
  if (current) {
    CO_TRY(const Stored stored, parse(*current));
    is_free = stored.id == kNobody;
    const std::lock_guard lock(mutex_);
    holder_ = stored.host;
  }
  if (watched_us_ < 0 || current != watched_) {
    watched_ = current;
    watched_us_ = clock_.elapsed_us();  // the holder may have renewed it while it was read
  }
  if (!is_free && now_us - watched_us_ < kExpiresMs * 1000) co_return Result<void>{};
  Bytes value = next_value(current, id_);
  auto taking = replace(std::move(current), value);
  CO_TRY(const bool taken, co_await std::move(taking));
  if (!taken) co_return Result<void>{};
  mine_ = std::move(value);
  const std::lock_guard lock(mutex_);
  held_ = true;
  renewed_us_ = now_us;
  ++terms_;
  holder_ = host_;
  log::info("this server computes the views now");
  co_return Result<void>{};
}

Task<void> ViewLease::release() {
  {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(held_, false)) co_return Result<void>{};
    holder_.clear();
  }
  auto replacing = replace(mine_, next_value(mine_, kNobody));
  CO_TRY_VOID(co_await std::move(replacing));
  co_return Result<void>{};
}

Result<WriteEnd> ViewLease::may_write(std::uint64_t term) const {
  // First, so that it stays right if the thread stands still after the check.
  const WriteEnd end = std::chrono::steady_clock::now() + std::chrono::milliseconds(kWriteMs);
  if (term != 0 && this->term() == term) return end;
  return fail(Errc::kConflict, "this server does not hold the lease of the views for certain");
}

std::uint64_t ViewLease::term() const {
  const std::int64_t now_us = clock_.elapsed_us();
  const std::lock_guard lock(mutex_);
  const bool certain = held_ && now_us - renewed_us_ < kCertainMs * 1000;
  return certain ? terms_ : 0;
}

std::string ViewLease::holder() const {
  const std::lock_guard lock(mutex_);
  return holder_;
}

}  // namespace halite::storage
