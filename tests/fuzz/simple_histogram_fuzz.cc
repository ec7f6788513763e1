// Bytes of a histogram as a cell may hold them.
#include <cstddef>
#include <cstdint>

#include "common/check.h"
#include "storage/cells/layouts/values/simple_histogram.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using halite::storage::SimpleHistogram;
  const halite::BytesView bytes(reinterpret_cast<const char*>(data), size);
  const auto histogram = SimpleHistogram::read(bytes);
  if (!histogram) return 0;
  halite::Bytes written;
  histogram->append_to(written);
  HALITE_CHECK(written.size() <= size, "nothing is added");
  const double middle = histogram->percentile(50);
  static_cast<void>(middle);
  SimpleHistogram twice = *histogram;
  HALITE_CHECK(twice.add(*histogram), "the same buckets again");
  HALITE_CHECK(twice.buckets().size() == histogram->buckets().size(), "no bucket is new");
  const auto again = SimpleHistogram::read(written);
  halite::Bytes rewritten;
  HALITE_CHECK(again, "what was written can be read");
  again->append_to(rewritten);
  HALITE_CHECK(rewritten == written, "and is what it was");
  return 0;
}
