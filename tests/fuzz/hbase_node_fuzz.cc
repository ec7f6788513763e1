// Any bytes as the value of a node of ZooKeeper.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "storage/backends/hbase/rpc/zookeeper.h"

namespace halite::storage::hbase {

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView value(reinterpret_cast<const char*>(data), size);
  const Result<BytesView> message = message_in_node(value);
  if (!message) {
    if (message.error().message.empty()) std::abort();
    return 0;
  }
  if (!value.ends_with(*message)) std::abort();
  return 0;
}

}  // namespace halite::storage::hbase
