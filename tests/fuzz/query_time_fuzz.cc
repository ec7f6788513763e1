// Times and durations as users write them; the first byte chooses the server's zone.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/check.h"
#include "query/parse/downsample_spec.h"
#include "query/parse/time.h"
#include "tests/fuzz/question_input.h"

namespace halite::query {
namespace {

void read_time(const std::uint8_t* data, std::size_t size) {
  constexpr std::array<const char*, 4> kZones = {"", "Europe/Paris", "America/Sao_Paulo",
                                                 "Asia/Kolkata"};
  if (size == 0) return;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  ParseContext context;
  context.now = kFuzzNow;
  context.timezone = kZones[data[0] % kZones.size()];
  const auto time = parse_time(text, context);
  if (!time) HALITE_CHECK(!time.error().message.empty(), "a refusal has a reason");
  if (const auto duration = parse_duration(text)) HALITE_CHECK(*duration > 0, "time passes");
  if (const auto spec = parse_downsample(text)) {
    HALITE_CHECK(spec->all || spec->interval_ms > 0, "a bucket has a length");
  }
}

}  // namespace
}  // namespace halite::query

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::query::read_time(data, size);
  return 0;
}
