// OTLP in protobuf: keys, names, times and parts are in order, whatever the bytes.
#include "tests/fuzz/otlp_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::ingest::check_otlp_body(halite::ingest::OtlpEncoding::kProtobuf, data, size);
  return 0;
}
