// A planted fault: input that begins with "can" breaks a promise. Fuzzing that does not find it is
// not fuzzing. Its seeds lack it by one byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (text.size() >= 3 && text[0] == 'c' && text[1] == 'a' && text[2] == 'n') std::abort();
  return 0;
}
