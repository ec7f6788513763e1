// Bodies of /api/put: what a writer stores and answers is what reading every element completely
// gives, whether the series are in the cache or not; and what is taken for JSON is JSON.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "common/bytes/utf8.h"
#include "common/check.h"
#include "ingest/json/put_json.h"
#include "ingest/json/sent_point.h"
#include "tests/unit/ingest/writer_fixture.h"

namespace halite::ingest {
namespace {

IngestOptions small_json_options() {
  IngestOptions options;
  options.limits.tags_max = 4;
  options.limits.name_bytes_max = 64;
  options.limits.json_depth_max = 8;
  options.limits.points_per_request_max = 100;
  options.limits.series_cache_bytes_max = 1 << 20;
  options.limits.refused_samples_max = 4;
  return options;
}

struct Answer {
  std::vector<test::FakePointStore::StoredPoint> points;
  std::vector<std::pair<std::string, std::string>> failures;
  std::string error;  // the whole body's
  bool operator==(const Answer&) const = default;
};

// Reads every element completely.
class Reference final : public JsonSink {
 public:
  Result<void> take(std::span<const JsonElement> elements) override {
    for (const JsonElement& element : elements) TRY_VOID(take_one(element));
    return {};
  }

  Answer answer;

 private:
  Result<void> take_one(const JsonElement& element) {
    if (element.text.empty()) {
      answer.failures.emplace_back("null", "Unexpected null datapoint encountered in set.");
      return {};
    }
    TRY(const SentPoint sent, reader_.read(element.text));
    const auto point = validate_sent_point(sent, rules_);
    if (point) {
      answer.points.push_back({.series = point->series,
                               .time = point->time,
                               .value = point->value,
                               .flags = point->flags});
    } else {
      answer.failures.emplace_back(echo_sent_point(sent), http_refusal(point.error()));
    }
    return {};
  }

  PointRules rules_{small_json_options().limits, ""};
  SentPointReader reader_{small_json_options().limits.json_depth_max};
};

Answer refer(std::string body) {
  PutJsonParser parser(small_json_options().limits);
  Reference reference;
  const auto scanned = parser.scan(body, reference);
  if (scanned) return std::move(reference.answer);
  return {.points = {}, .failures = {}, .error = scanned.error().message};
}

Answer ask(WriterFixture& fixture, std::string body) {
  Answer answer;
  const auto outcome = test::run_task(fixture.writer.put_json(std::move(body)));
  answer.points = fixture.store.take_points();
  if (!outcome) {
    answer.error = outcome.error().message;
    return answer;
  }
  for (const PutFailure& failure : outcome->failures) {
    answer.failures.emplace_back(failure.datapoint, failure.error);
  }
  HALITE_CHECK(outcome->success == answer.points.size(), "what is counted was stored");
  HALITE_CHECK(outcome->failed == answer.failures.size(), "what is counted was named");
  return answer;
}

// Another parser has a say: NaN, halves of surrogate pairs and huge exponents are what it minds and
// Jackson does not.
void check_json(std::string_view body) {
  for (const std::string_view other : {"NaN", "Infinity", "\\ud", "\\uD"}) {
    if (body.find(other) != std::string_view::npos) return;
  }
  while (!body.empty() && static_cast<unsigned char>(body.front()) <= ' ') body.remove_prefix(1);
  while (!body.empty() && static_cast<unsigned char>(body.back()) <= ' ') body.remove_suffix(1);
  if (!is_utf8(body)) return;
  boost::json::error_code error;
  static_cast<void>(boost::json::parse(body, error));
  HALITE_CHECK(!error || error == boost::json::error::exponent_overflow,
               "what is taken for JSON is JSON");
}

}  // namespace

void check_put_json(const std::string& body) {
  const Answer expected = refer(body);
  if (expected.error.empty()) check_json(body);
  WriterFixture& fixture = fixture_without_series(small_json_options());
  const std::size_t interns = fixture.store.intern_calls();
  HALITE_CHECK(ask(fixture, body) == expected, "the same answer");
  if (fixture.store.intern_calls() == interns) return;  // no series went into the cache
  HALITE_CHECK(ask(fixture, body) == expected, "the same answer for series in the cache");
}

}  // namespace halite::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::ingest::check_put_json(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
