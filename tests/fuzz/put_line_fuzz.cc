// Telnet lines: the quick way and the full parser agree line by line, and a batch stores what the
// full parser would, whether its series are in the cache or not.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "ingest/telnet/put_line.h"
#include "tests/unit/ingest/writer_fixture.h"

namespace halite::ingest {
namespace {

IngestOptions small_options() {
  IngestOptions options;
  options.limits.tags_max = 4;
  options.limits.name_bytes_max = 64;
  options.limits.series_cache_bytes_max = 1 << 20;
  options.limits.refused_samples_max = 4;
  return options;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

void check_pieces(std::string_view line, const PointRules& rules) {
  PutPieces pieces;
  if (!split_put_line(line, pieces)) return;
  const auto point = parse_put_line(line, rules);
  const auto series = parse_put_series(pieces.metric, pieces.tags, rules);
  HALITE_CHECK(point.has_value() == series.has_value(), "both take the line or neither");
  if (point) {
    HALITE_CHECK(point->series == *series, "the same series");
    HALITE_CHECK(
        point->time == pieces.time && point->value == pieces.value && point->flags == pieces.flags,
        "the same point");
  } else {
    HALITE_CHECK(point.error().text == series.error().text, "the same complaint");
  }
}

void check_batch(const std::vector<std::string_view>& lines, const PointRules& rules) {
  std::vector<test::FakePointStore::StoredPoint> expected;
  std::string answers;
  for (const std::string_view line : lines) {
    const auto point = parse_put_line(line, rules);
    if (point) {
      expected.push_back({.series = point->series,
                          .time = point->time,
                          .value = point->value,
                          .flags = point->flags});
    } else {
      answers += telnet_refusal(point.error());
    }
  }
  WriterFixture& fixture = fixture_without_series(small_options());
  TelnetBatch batch(fixture.writer);
  const std::size_t interns = fixture.store.intern_calls();
  for (int round = 0; round < 2; ++round) {
    if (round == 1 && fixture.store.intern_calls() == interns) break;  // no series in the cache
    std::string replies;
    for (const std::string_view line : lines) batch.add(line, replies);
    HALITE_CHECK(test::run_task(batch.flush(replies)).has_value(), "a flush always ends well");
    HALITE_CHECK(replies == answers, "the same answers in the same order");
    HALITE_CHECK(fixture.store.take_points() == expected, "the same points in the same order");
  }
}

}  // namespace

void check_put_lines(std::string_view text) {
  static const PointRules kRules(small_options().limits, "");
  const auto lines = lines_of(text);
  for (const std::string_view line : lines) check_pieces(line, kRules);
  check_batch(lines, kRules);
}

}  // namespace halite::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::ingest::check_put_lines({reinterpret_cast<const char*>(data), size});
  return 0;
}
