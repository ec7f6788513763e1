// Bytes of a sketch as a cell of a view may hold them.
#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "common/sketch.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using halite::Sketch;
  const halite::BytesView bytes(reinterpret_cast<const char*>(data), size);
  halite::BytesView rest = bytes;
  const auto sketch = Sketch::take(rest);
  if (!sketch) return 0;
  halite::Bytes written;
  sketch->append_to(written);
  HALITE_CHECK(written.size() <= size - rest.size(), "nothing is added");
  halite::BytesView again = written;
  HALITE_CHECK(Sketch::take(again) == sketch && again.empty(), "what was written can be read");
  HALITE_CHECK(sketch->empty() || sketch->percentile(0) <= sketch->percentile(100),
               "the least number is not the greatest");
  Sketch twice = *sketch;
  twice.add(*sketch);
  HALITE_CHECK(twice.count() == 2 * sketch->count(), "every number counts again");
  Sketch more = *sketch;
  more.add(1.5);
  HALITE_CHECK(more.count() == sketch->count() + 1, "and one more");
  return 0;
}
