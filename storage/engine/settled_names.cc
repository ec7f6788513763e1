#include "storage/engine/settled_names.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/log.h"
#include "common/run_here.h"
#include "storage/schema/uid_assigner.h"

namespace halite::storage::engine {
namespace {

constexpr Family kSettingsFamily = 0;
constexpr BytesView kRow = "engine";
constexpr BytesView kSettled = "settled";  // the qualifier, and the number's name in the chunks
// More than a flush ever brought of new names, and a small part of what there is room for.
constexpr std::uint64_t kIdsLeftOut = 65'536;

Task<std::int64_t> noted(std::shared_ptr<Table> settings) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{Bytes(kRow), kSettingsFamily, {Bytes(kSettled)}});
  CO_TRY(const std::vector<Row> rows, co_await settings->read(std::move(reads)));
  if (rows.empty() || rows[0].cells.empty()) co_return 0;
  const Bytes& value = rows[0].cells[0].value;
  if (value.size() != sizeof(std::uint64_t)) {
    co_return fail(Errc::kCorruption, "the settings hold a number of settled names that is none");
  }
  co_return static_cast<std::int64_t>(load_be<std::uint64_t>(value.data()));
}

Task<void> leave_ids_out(std::shared_ptr<Table> names, UidWidths widths) {
  UidAssigner assigner(std::move(names), widths);
  for (const NameKind kind : {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue}) {
    const unsigned bits = 8 * assigner.width(kind);
    const std::uint64_t room = bits >= 64 ? UINT64_MAX : std::uint64_t{1} << bits;
    CO_TRY_VOID(co_await assigner.reserve(kind, std::min(kIdsLeftOut, room / 256)));
  }
  co_return Result<void>();
}

}  // namespace

Result<void> SettledNames::note(ChunkDb& chunks) {
  TRY(const auto before, chunks.read_number(kSettled));
  const std::int64_t number = before.value_or(0) + 1;
  std::vector<RowWrite> rows(1);
  rows[0].row = kRow;
  Bytes value;
  append_be(value, static_cast<std::uint64_t>(number));
  rows[0].puts.push_back(CellWrite{Column{kSettingsFamily, Bytes(kSettled)}, std::move(value), 0});
  TRY_VOID(run_here(settings_->write(std::move(rows))));
  return chunks.note_number(kSettled, number);
}

Task<void> SettledNames::check(std::shared_ptr<Table> settings, std::shared_ptr<Table> names,
                               UidWidths widths, const ChunkDb& chunks, Lost lost) {
  CO_TRY(const auto wanted, chunks.read_number(kSettled));
  CO_TRY(const std::int64_t found, co_await noted(std::move(settings)));
  if (!wanted || found >= *wanted) co_return Result<void>();
  if (!lost.accept) {
    co_return fail(
        Errc::kCorruption,
        fmt::format("names and series that chunks in {} need are lost: the directory rocksdb "
                    "beside it has lost its last writes, or is of an older copy. Restore the whole "
                    "data directory from one copy; or set engine.accept_lost_names to go on "
                    "without the points of those series",
                    lost.dir));
  }
  log::error("names and series that chunks in {} need are lost, which is accepted", lost.dir);
  co_return co_await leave_ids_out(std::move(names), widths);
}

}  // namespace halite::storage::engine
