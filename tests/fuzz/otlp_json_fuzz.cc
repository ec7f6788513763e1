// OTLP in JSON: as in protobuf. And the protobuf that is made of it is well formed.
#include "common/bytes/proto_reader.h"
#include "ingest/otlp/json_to_protobuf.h"
#include "tests/fuzz/otlp_input.h"

namespace halite::ingest {
namespace {

void check_protobuf(std::string_view json) {
  const auto protobuf = otlp_json_to_protobuf(json, {});
  if (!protobuf) return;
  ProtoFault fault;
  ProtoReader reader(*protobuf, fault);
  while (reader.next()) HALITE_CHECK(reader.field() == 1, "resource_metrics only");
  HALITE_CHECK(!fault, fault.text());
}

}  // namespace
}  // namespace halite::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::ingest::check_otlp_body(halite::ingest::OtlpEncoding::kJson, data, size);
  if (size > 0) {
    halite::ingest::check_protobuf({reinterpret_cast<const char*>(data + 1), size - 1});
  }
  return 0;
}
