// A scanner that fetches the next batch while the last one is used.
#pragma once

#include <memory>
#include <string>

#include "storage/backends/hbase/client/core.h"
#include "storage/backends/hbase/messages/scan.h"

namespace halite::storage::hbase {

[[nodiscard]] std::unique_ptr<Scanner> make_scanner(CorePtr core, std::string table,
                                                    ScanRequest request);

}  // namespace halite::storage::hbase
