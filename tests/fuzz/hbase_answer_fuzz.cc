// Any bytes as what follows the length of an answer of a region server.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "storage/backends/hbase/rpc/fault.h"
#include "storage/backends/hbase/rpc/frame.h"

namespace halite::storage::hbase {

namespace {

bool within(BytesView part, BytesView whole) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const BytesView frame(reinterpret_cast<const char*>(data), size);
  const Result<RpcResponse> answer = parse_answer(frame);
  if (!answer) {
    if (answer.error().message.empty()) std::abort();
    return 0;
  }
  if (!within(answer->message, frame) || !within(answer->cellblock, frame)) std::abort();
  if (!answer->exception) return 0;
  const Fault fault = classify(*answer->exception, "server");
  if (fault.error.message.empty() || fault.pause_ms > 600'000) std::abort();
  if (fault.moved && fault.moved->port == 0) std::abort();
  return 0;
}

}  // namespace halite::storage::hbase
