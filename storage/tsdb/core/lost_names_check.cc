#include "storage/tsdb/core/lost_names_check.h"

#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/log.h"
#include "common/threads/run_here.h"
#include "storage/tsdb/core/engine_cell.h"

namespace halite::storage::engine {
namespace {

constexpr BytesView kSettled = "settled";  // qualifier; also a name in the chunks

Task<std::int64_t> noted(std::shared_ptr<Table> settings) {
  CO_TRY(const std::optional<Bytes> cell,
         co_await read_engine_cell(std::move(settings), Bytes(kSettled)));
  if (!cell) co_return 0;
  if (cell->size() != sizeof(std::uint64_t)) {
    co_return fail(Errc::kCorruption,
                   "the settings table holds an invalid number of settled names");
  }
  co_return static_cast<std::int64_t>(load_be<std::uint64_t>(cell->data()));
}

}  // namespace

Result<void> LostNamesCheck::note(SlotStates& chunks) {
  TRY(const auto before, chunks.read_number(kSettled));
  const std::int64_t number = before.value_or(0) + 1;
  Bytes value;
  append_be(value, static_cast<std::uint64_t>(number));
  TRY_VOID(run_here(write_engine_cell(settings_, Bytes(kSettled), std::move(value))));
  return chunks.note_number(kSettled, number);
}

Task<bool> LostNamesCheck::check(std::shared_ptr<Table> settings, const SlotStates& chunks,
                                 Lost lost) {
  CO_TRY(const auto wanted, chunks.read_number(kSettled));
  CO_TRY(const std::int64_t found, co_await noted(std::move(settings)));
  if (!wanted || found >= *wanted) co_return true;
  if (!lost.accept) {
    co_return fail(
        Errc::kCorruption,
        fmt::format(
            "names and series that chunks in {} need are lost: the directory rocksdb beside it "
            "lost its last writes, or is an older copy. Restore the whole data directory from one "
            "copy; or set engine.accept_lost_names to continue without the points of those series",
            lost.dir));
  }
  log::error(
      "names and series that chunks in {} need are lost; engine.accept_lost_names accepts this",
      lost.dir);
  co_return false;
}

}  // namespace halite::storage::engine
