#include "app/tools/one_line.h"

#include <algorithm>

#include "common/bytes/utf8.h"

namespace halite::app {

std::string one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(line, [](unsigned char byte) { return byte < ' ' || byte == 0x7F; }, ' ');
  return line;
}

std::string shown_line(std::string_view text) { return one_line(repair_utf8(text)); }

}  // namespace halite::app
