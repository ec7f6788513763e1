// The error for a damaged cell.
#pragma once

#include <string_view>

#include "common/bytes/bytes.h"
#include "common/result.h"
#include "storage/api/cells.h"

namespace halite::storage {

// kCorruption: "row 00.. qualifier 00..: <what>: value 00..", with long values cut.
[[nodiscard]] std::unexpected<Error> corrupt_cell(BytesView row_key, const CellRef& cell,
                                                  std::string_view what);

}  // namespace halite::storage
