// Changes a cell without losing concurrent changes: reads, merges, compares and puts; starts again
// if another writer was faster.
#pragma once

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

// More consecutive conflicts than this indicate another problem.
inline constexpr int kMergeTries = 64;

// merge(std::optional<Bytes> stored) -> Result<std::optional<Bytes>> returns the new value; nullopt
// leaves the cell unchanged. It may be called several times; the last call's value is stored. The
// arguments must stay valid until the await ends.
template <class Merge>
Task<void> merge_put(Table& table, const Bytes& row, const Column& column, Merge& merge) {
  for (int attempt = 0; attempt < kMergeTries; ++attempt) {
    std::vector<RowRead> reads;
    reads.push_back(RowRead{row, column.family, {column.qualifier}});
    CO_TRY(std::vector<Row> rows, co_await table.read(std::move(reads)));
    std::optional<Bytes> stored;
    if (!rows.empty() && !rows.front().cells.empty()) {
      stored = std::move(rows.front().cells.front().value);
    }
    CO_TRY(std::optional<Bytes> wanted, merge(std::as_const(stored)));
    // Also equal if an earlier try was applied but its response was lost.
    if (!wanted || wanted == stored) co_return Result<void>();
    auto putting = table.compare_and_put(row, column, std::move(stored), std::move(*wanted));
    CO_TRY(const CasOutcome outcome, co_await std::move(putting));
    if (outcome == CasOutcome::kApplied) co_return Result<void>();
  }
  co_return fail(Errc::kConflict,
                 fmt::format("row {} kept changing: {} attempts to write its cell were refused",
                             to_hex(row), kMergeTries));
}

}  // namespace halite::storage
