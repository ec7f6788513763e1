// Any bytes as the parameters stored with a table.
#include <cstddef>
#include <cstdlib>

#include "storage/cells/layouts/table_parameters.h"

namespace halite::storage {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto read =
      TableParameters::from_bytes(BytesView(reinterpret_cast<const char*>(data), size));
  if (read && TableParameters::from_bytes(read->to_bytes()).value() != *read) std::abort();
  return 0;
}

}  // namespace halite::storage
