// Checks that names and chunks, which are useless without each other, are both present. Applies the
// rules of the start (recovery/data_dir_check.h).
//
//   Threads  nothing else writes there meanwhile; blocks. Changes nothing.
#pragma once

#include <memory>
#include <string>

#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/tools/check/check.h"

namespace halite::storage::check {

// Why a start would fail. Empty: present, or never created.
struct MissingData {
  std::string names = {};
  std::string chunks = {};
  bool unfinished = false;  // the first start was interrupted; there are no chunks
};

// `settings`: the settings table beside the names; null if there is none.
[[nodiscard]] Result<MissingData> missing_data(const CheckOptions& options,
                                               std::shared_ptr<Table> settings);

// Opens the names itself, which locks them through `options.files`. Reports nothing if the names
// cannot be read: they are damaged then, not missing.
[[nodiscard]] Result<MissingData> find_missing_data(const CheckOptions& options);

// Whether the names' database was created, even if parts of it are lost.
[[nodiscard]] Result<bool> has_names(const CheckOptions& options);

}  // namespace halite::storage::check
