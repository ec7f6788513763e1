// A scanner that fetches the next batch while the caller uses the last one.
#pragma once

#include <memory>
#include <string>

#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/scan.h"

namespace halite::storage::hbase {

[[nodiscard]] std::unique_ptr<Scanner> make_scanner(ClientContextPtr context, std::string table,
                                                    ScanRequest request);

}  // namespace halite::storage::hbase
