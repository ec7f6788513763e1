// Bytes of a telnet connection, cut into reads whose sizes the first byte tells: whatever the
// reads, the same lines come out, none longer than the maximum.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "common/check.h"
#include "web/telnet/line_splitter.h"

namespace {

using halite::web::LineSplitter;

constexpr std::size_t kLineBytesMax = 80;

std::vector<std::string> lines_of(std::string_view bytes, std::size_t step) {
  LineSplitter splitter(kLineBytesMax, 256);
  std::vector<std::string> lines;
  while (!bytes.empty()) {
    const std::span<char> space = splitter.space();
    HALITE_CHECK(!space.empty(), "no room to read into");
    const std::size_t count = std::min({space.size(), step, bytes.size()});
    std::memcpy(space.data(), bytes.data(), count);
    splitter.filled(count);
    bytes.remove_prefix(count);
    std::string_view line;
    while (true) {
      const LineSplitter::Found found = splitter.next(line);
      if (found == LineSplitter::Found::kNothing) break;
      HALITE_CHECK(line.size() <= kLineBytesMax, "a line over its limit");
      lines.push_back(found == LineSplitter::Found::kTooLong ? "too long"
                                                             : "=" + std::string(line));
    }
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  bytes += '\n';
  HALITE_CHECK(lines_of(bytes, 1 + data[0]) == lines_of(bytes, SIZE_MAX),
               "reads of another size give other lines");
  return 0;
}
