// Telnet lines and body elements of histograms: what is taken can be read from what is stored.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "common/check.h"
#include "ingest/json/histogram_json.h"
#include "ingest/telnet/histogram_line.h"

namespace halite::ingest {
namespace {

void check_named(const std::expected<NamedHistogram, Refused>& named) {
  if (!named) return;
  HALITE_CHECK(named->time > 0, "a time");
  HALITE_CHECK(named->value.size() > 1 && named->value.front() == 42, "the codec's id");
  const auto histogram = storage::SimpleHistogram::read(BytesView(named->value).substr(1));
  HALITE_CHECK(histogram, "what is stored can be read");
  HALITE_CHECK(encode_histogram(42, *histogram) == named->value, "and is what it was");
}

}  // namespace

void check_histogram_lines(std::string_view text) {
  static const PointRules kPoints({.tags_max = 4, .name_bytes_max = 64}, "");
  static const HistogramRules kRules(kPoints, {.simple_id = 42});
  check_named(parse_histogram_line(text, kRules));
  auto sent = read_sent_histogram(text, 8);
  if (!sent) return;
  const std::string shown = echo_sent_histogram(*sent);
  const auto again = read_sent_histogram(shown, 8);
  HALITE_CHECK(again && echo_sent_histogram(*again) == shown, "what is shown can be read again");
  check_named(validate_sent_histogram(*std::move(sent), kRules));
}

}  // namespace halite::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::ingest::check_histogram_lines({reinterpret_cast<const char*>(data), size});
  return 0;
}
