// What is read quickly is what is read completely: two writers get the same bytes, one that knows
// series by their bytes and one without a cache, which reads everything completely. Their answers
// and their stores must be the same, whatever is broken in what they get.
//
// HALITE_PROPERTY_CASES sets how many senders (300); HALITE_PROPERTY_SEED=N runs others.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/sanitized.h"
#include "tests/unit/ingest/writer_fixture.h"

namespace halite::ingest {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return otherwise;
  if (std::string_view(text) == "random") return std::random_device()();
  return std::strtoull(text, nullptr, 10);
}

IngestOptions small_options(std::size_t cache_bytes) {
  IngestOptions options;
  options.limits.points_per_request_max = 40;
  options.limits.series_cache_bytes_max = cache_bytes;
  return options;
}

// What agents send, in the manners that they have, and now and then something broken.
class Sender {
 public:
  explicit Sender(std::uint64_t seed) : random_(seed), neat_(seed % 2 == 0) {
    blanks_ = one_of<std::string_view>({"", "", "", " ", "\n  ", "\t"});
    const std::size_t series = 1 + below(12);
    for (std::size_t i = 0; i < series; ++i) {
      metrics_.push_back(one_of<std::string>({"cpu.user", "cpu.system", "m", "t\xC3\xA9"}));
      tags_.push_back(one_of<std::string>(
          {R"({"host":"a"})", R"({"host":"b","dc":"x"})", R"({ "host" : "a" })", R"({"h":1})"}));
      if (!neat_ && below(3) == 0) {
        tags_.back() = one_of<std::string>({R"({"h":"}"})", R"({"h":null})", R"({})",
                                            R"({"h":"a","h":"b"})", R"({"h":{"x":"y"}})"});
        metrics_.back() = one_of<std::string>({"a b", "quo\\\"te", "t\\u00e9"});
      }
    }
  }

  std::string body() {
    std::string body = "[" + std::string(blanks_);
    const std::size_t points = 1 + below(below(10) == 0 ? 45 : 20);
    for (std::size_t i = 0; i < points; ++i) {
      if (i != 0) body += fmt::format("{},{}", blanks_, blanks_);
      body += element();
    }
    body += std::string(blanks_) + "]";
    if (below(20) == 0) body = element();
    if (below(10) == 0) body = " \n" + body + "\r\n";
    if (below(4) == 0) break_something(body);
    return body;
  }

  // Telnet lines, as one read finds them.
  std::string lines() {
    constexpr std::string_view kTags[] = {"host=a", "host=b dc=x", "host=c ", "host=a host=a"};
    std::string text;
    const std::size_t points = 1 + below(60);
    for (std::size_t i = 0; i < points; ++i) {
      place_ = below(15) == 0 ? below(metrics_.size()) : (place_ + 1) % metrics_.size();
      text += fmt::format("put {} {} {} {}{}", metrics_[place_], time(), value(),
                          kTags[place_ % (neat_ ? 3 : 4)], below(20) == 0 ? "\r\n" : "\n");
    }
    if (below(4) == 0) break_something(text);
    if (!text.ends_with('\n')) text += '\n';
    return text;
  }

  std::size_t below(std::size_t bound) { return random_() % bound; }

 private:
  template <class T>
  T one_of(std::initializer_list<T> these) {
    return *(these.begin() + below(these.size()));
  }

  std::string time() {
    if (below(8) == 0) time_ += 10;
    if (!neat_ && below(30) == 0) {
      return one_of<std::string>({"0", "-5", "1356998400.5", "01356998400", "\"1356998400\"", "1e9",
                                  "13569984000000", "null", "1356998400 "});
    }
    return std::to_string(below(10) == 0 ? time_ * 1000 + 250 : time_);
  }

  std::string value() {
    if (below(4) != 0) return std::to_string(below(200));
    if (neat_ || below(4) != 0) return one_of<std::string>({"-1", "2.5", "1e3", "\"7\"", "-0.25"});
    return one_of<std::string>({"-1",
                                "2.5",
                                "1e3",
                                "\"7\"",
                                "\"2.5\"",
                                "01",
                                "-",
                                "NaN",
                                "\"NaN\"",
                                "\"0x1p3\"",
                                "true",
                                "null",
                                "9223372036854775808",
                                "-0",
                                "1.",
                                ".5",
                                "\"1 \"",
                                "1e999",
                                "\"\"",
                                "12345678901234567890.5",
                                "+1"});
  }

  std::string element() {
    // An agent goes through its series in order, mostly.
    place_ = below(15) == 0 ? below(metrics_.size()) : (place_ + 1) % metrics_.size();
    std::vector<std::string> fields = {
        fmt::format(R"("metric"{}:{}"{}")", blanks_, blanks_, metrics_[place_]),
        fmt::format(R"("timestamp":{}{})", blanks_, time()),
        fmt::format(R"("value":{}{})", blanks_, value()),
        fmt::format(R"("tags":{}{})", blanks_, tags_[place_])};
    if (!neat_ && below(40) == 0)
      fields.push_back(one_of<std::string>({R"("x":1)", fields[1], fields[3]}));
    if (!neat_ && below(40) == 0)
      fields.erase(fields.begin() + static_cast<std::ptrdiff_t>(below(4)));
    if (below(10) == 0) std::ranges::shuffle(fields, random_);
    std::string text = "{" + std::string(blanks_);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (i != 0) text += fmt::format("{},{}", blanks_, blanks_);
      text += fields[i];
    }
    return text + std::string(blanks_) + "}";
  }

  void break_something(std::string& body) {
    const std::size_t at = below(body.size());
    switch (below(4)) {
      case 0:
        body.erase(at, 1 + below(3));
        break;
      case 1:
        body.insert(at,
                    one_of<std::string>({"\"", "}", "{", "\\", ",", "]", "1", " ", "\xFF", "e"}));
        break;
      case 2:
        body[at] = static_cast<char>(random_());
        break;
      default:
        body.resize(at);
    }
  }

  std::mt19937_64 random_;
  bool neat_;  // breaks nothing by itself
  std::string_view blanks_;
  std::vector<std::string> metrics_;  // as JSON writes them
  std::vector<std::string> tags_;
  std::size_t place_ = 0;
  std::int64_t time_ = 1'356'998'400;
};

std::string stored_by(WriterFixture& fixture) {
  std::string text;
  for (const auto& point : fixture.store.take_points()) {
    text += fmt::format("{} {} {} {}", point.series.metric, point.time, point.value, point.flags);
    for (const Tag& tag : point.series.tags) text += fmt::format(" {}={}", tag.key, tag.value);
    text += '\n';
  }
  return text;
}

std::string said(WriterFixture& fixture, const std::string& body) {
  const auto outcome = test::run_task(fixture.writer.put_json(body));
  std::string text;
  if (!outcome) {
    text = outcome.error().message;
  } else {
    text = fmt::format("{} taken, {} not\n", outcome->success, outcome->failed);
    for (const PutFailure& failure : outcome->failures) {
      text += failure.datapoint + ": " + failure.error + "\n";
    }
  }
  return text + stored_by(fixture);
}

// What a session does with what it read; `quickly`: it lets the batch find the lines.
std::string said_to_lines(WriterFixture& fixture, std::string_view text, bool quickly) {
  constexpr std::size_t kLineBytesMax = 60;
  TelnetBatch batch(fixture.writer);
  std::string replies;
  while (!text.empty()) {
    if (quickly) text.remove_prefix(batch.add_fast_path(text, kLineBytesMax, replies).bytes);
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > kLineBytesMax) {
      EXPECT_TRUE(test::run_task(batch.flush(replies)));
      replies += "too long\n";
    } else if (line.starts_with("put ")) {
      batch.add(line, replies);
    }
    if (batch.full()) {
      EXPECT_TRUE(test::run_task(batch.flush(replies)));
    }
  }
  EXPECT_TRUE(test::run_task(batch.flush(replies)));
  return replies + stored_by(fixture);
}

TEST(UsualProperty, LinesReadQuicklyAreReadRight) {
  const std::uint64_t seed = setting("HALITE_PROPERTY_SEED", 1);
  const std::uint64_t cases = setting("HALITE_PROPERTY_CASES", test::kSanitized ? 100 : 300);
  IngestOptions with_cache = small_options(1 << 20);
  IngestOptions without = small_options(0);
  with_cache.limits.telnet_batch_points_max = without.limits.telnet_batch_points_max = 25;
  for (std::uint64_t i = 0; i < cases; ++i) {
    Sender sender(seed + i);
    WriterFixture knowing(with_cache);
    WriterFixture reading(without);
    for (int round = 0; round < 12; ++round) {
      const std::string text = sender.lines();
      ASSERT_EQ(said_to_lines(knowing, text, true), said_to_lines(reading, text, false))
          << "seed " << seed + i << ": " << text;
    }
  }
}

TEST(UsualProperty, BodiesReadQuicklyAreReadRight) {
  const std::uint64_t seed = setting("HALITE_PROPERTY_SEED", 1);
  const std::uint64_t cases = setting("HALITE_PROPERTY_CASES", test::kSanitized ? 100 : 300);
  double hits = 0;
  for (std::uint64_t i = 0; i < cases; ++i) {
    Sender sender(seed + i);
    WriterFixture knowing(small_options(1 << 20));
    WriterFixture reading(small_options(0));
    for (int round = 0; round < 12; ++round) {
      const std::string body = sender.body();
      ASSERT_EQ(said(knowing, body), said(reading, body)) << "seed " << seed + i << ": " << body;
    }
    hits += knowing.metric("halite_ingest_series_cache_lookups_total", {"result=hit"});
  }
  EXPECT_GT(hits, static_cast<double>(cases)) << "the quick way was not taken";
}

}  // namespace
}  // namespace halite::ingest
