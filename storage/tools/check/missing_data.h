// Whether names and points, which are of no use without each other, are both there: what a start
// goes by (engine/parts.h), for who only looks.
//
//   Threads  nobody writes there meanwhile; blocks. Changes nothing.
#pragma once

#include <memory>
#include <string>

#include "common/result.h"
#include "storage/api/wide_column.h"
#include "storage/tools/check/check.h"

namespace halite::storage::check {

// Why a start would be refused; empty = it is there, or never was.
struct MissingData {
  std::string names;
  std::string chunks;
};

// `settings`: the table that is kept with the names; null where there is none.
[[nodiscard]] Result<MissingData> missing_data(const CheckOptions& options,
                                               std::shared_ptr<Table> settings);

// The same where nobody has opened the names; the files of `options` then lock them. Says nothing
// where these cannot be read: then they are damaged, not missing.
[[nodiscard]] Result<MissingData> find_missing_data(const CheckOptions& options);

// Whether there is anything in the directory of names but what locks it.
[[nodiscard]] Result<bool> has_names(const CheckOptions& options);

}  // namespace halite::storage::check
