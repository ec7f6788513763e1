#include "ingest/import/import_batch.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/writer.h"
#include "tests/unit/ingest/writer_fixture.h"

namespace halite::ingest {
namespace {

using StoredPoint = test::FakePointStore::StoredPoint;
using test::run_task;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

ImportText part(std::string_view lines, bool ends = false) {
  return {.lines = lines, .header = {}, .ends = ends};
}

// What the parser says about each line, without a cache and a batch.
class Reference final : private PointReceiver {
 public:
  Reference(const ImportFormat& format, std::string_view text)
      : parser_(make_parser(format.format, format.options, rules_)) {
    for (const std::string_view line : lines_of(text)) {
      ++line_;
      parser_->line(line, *this);
    }
    parser_->end(*this);
  }

  std::vector<StoredPoint> points;
  std::vector<std::pair<std::uint32_t, std::string>> refused;

 private:
  void series(const SeriesKey& key) override { name_ = parser_->series_name(key); }
  void point(PointBits point) override {
    if (!name_) return refuse(name_.error().text);
    points.push_back(
        {.series = *name_, .time = point.time, .value = point.value, .flags = point.flags});
  }
  void refuse(std::string reason) override {
    std::pair<std::uint32_t, std::string> refusal(line_, std::move(reason));
    if (refused.empty() || refused.back() != refusal) refused.push_back(std::move(refusal));
  }

  const PointRules rules_{{}, ":"};
  const std::unique_ptr<PointParser> parser_;
  std::expected<SeriesName, Refused> name_;
  std::uint32_t line_ = 0;
};

Imported import(Writer& writer, const ImportFormat& format, const ImportText& text,
                std::uint32_t lines) {
  ImportBatch batch(writer, format);
  EXPECT_EQ(batch.add(text), lines);
  const auto imported = run_task(batch.commit());
  EXPECT_TRUE(imported) << imported.error().message;
  return imported.value_or(Imported());
}

std::vector<std::pair<std::uint32_t, std::string>> refusals_of(const Imported& imported) {
  std::vector<std::pair<std::uint32_t, std::string>> refusals;
  for (const RefusedLine& line : imported.refused) refusals.emplace_back(line.line, line.reason);
  return refusals;
}

struct Sample {
  Format format;
  std::string text;
};

std::vector<Sample> samples() {
  std::vector<Sample> all = {
      {Format::kOpenTsdb,
       "m 1500000000 1 host=a\nm 1500000000 1.5 host=b\nm 1500000000001 -7 host=a\n\n  \r\n# "
       "comment\n"
       "m 1500000000 x host=a\nm 1500000002 2 host=a b\nm 1500000000 9 host=a\n"
       "m 1500000003 1\nonly\nm  1500000004  1e3  host=a  dc=x\r\nm 1500000001 4 host=b"},
      {Format::kInflux,
       "cpu,host=a user=1,sys=2.5 1500000000000000000\ncpu,host=b user=1i 1500000001000000000\n"
       "# comment\n\ncpu,host=a user=3,idle=x 1500000002000000000\ncpu,host user=1 15\n"
       "cpu,host=a user=4,sys=t 1500000003000000000"},
      {Format::kPrometheus,
       "# TYPE up gauge\nup{job=\"x\"} 1 1500000000000\nup{job=\"y\"} NaN 1500000000000\n"
       "up{job=\"x\"} +Inf 1500000000001\nup{job=\"x\" 1 1\nup{job=\"x\"} 3 1500000000002\nbad"},
      {Format::kOpenMetrics, "up{job=\"x\"} 1 1500000000\nup{job=\"x\"} 2 1500000001\n\n# EOF\n"},
      {Format::kVmJson,
       "{\"metric\":{\"__name__\":\"up\",\"job\":\"x\"},\"values\":[1,2.5,3],"
       "\"timestamps\":[1500000000000,1500000000001,1500000000001]}\n"
       "{\"metric\":{\"__name__\":\"\",\"job\":\"x\"},\"values\":[1,2],\"timestamps\":[1,2]}\n{\n"
       "{\"metric\":{\"__name__\":\"up\",\"job\":\"x\"},\"values\":[4],"
       "\"timestamps\":[1500000000002]}\n"},
      {Format::kPromDump,
       "{__name__=\"up\", job=\"x\"} 1 1500000000000\nbad\n"
       "{__name__=\"up\", job=\"x\"} 2.5 1500000000001\n"},
      {Format::kCsv,
       "metric,time,value,host\nm,1500000000,1,a\nm,1500000000,x,a\n"
       "m,1500000001,2.5,b\nm,1500000001,3\n\"m\",1500000002,4,\"a\"\n"},
      {Format::kGraphite,
       "a.b 1 1500000000\na.b;host=x;dc=y 2.5 1500000000\na.b;dc=y;host=x 3 1500000001\n"
       "a.b nan 1500000002\n\na.b;k= 1 1500000000\na.b{host=\"x\",dc=\"y\"} 4 1500000002.25\nbad"}};
  EXPECT_EQ(all.size(), kFormats.size());
  // Many series, in the same order again and again, and then in another.
  std::string& many = all[0].text;
  many += '\n';
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 100; ++i) {
      many += fmt::format("many.{} {} {}.25 host=h{}\n", i % 10, 1'500'000'000 + round, i,
                          round == 13 ? (i * 37) % 100 : i);
    }
  }
  return all;
}

TEST(ImportBatch, StoresWhatTheParserFinds) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(format_name(sample.format));
    const ImportFormat format{.format = sample.format, .options = {}};
    Reference expected(format, sample.text);
    if (sample.format == Format::kOpenTsdb) {  // comments are the batch's own
      std::erase_if(expected.refused, [&](const auto& refusal) {
        return lines_of(sample.text)[refusal.first - 1].starts_with('#');
      });
    }
    WriterFixture fixture;
    const auto lines = static_cast<std::uint32_t>(lines_of(sample.text).size());
    for (int time = 0; time < 3; ++time) {  // the cache knows the series later
      const Imported imported = import(fixture.writer, format, part(sample.text, true), lines);
      EXPECT_EQ(fixture.store.take_points(), expected.points);
      EXPECT_EQ(imported.points, expected.points.size());
      EXPECT_EQ(refusals_of(imported), expected.refused);
    }
  }
}

// The same lines by telnet.
TEST(ImportBatch, StoresWhatTelnetStores) {
  const std::string text = samples().front().text;
  WriterFixture telnet;
  TelnetBatch batch(telnet.writer);
  std::string replies;
  for (const std::string_view line : lines_of(text)) {
    if (line.find_first_not_of(" \r") == std::string_view::npos || line.front() == '#') continue;
    batch.add("put " + std::string(line), replies);
    if (batch.full()) ASSERT_TRUE(run_task(batch.flush(replies)));
  }
  ASSERT_TRUE(run_task(batch.flush(replies)));
  WriterFixture fixture;
  const auto lines = static_cast<std::uint32_t>(lines_of(text).size());
  const Imported imported = import(fixture.writer, {}, part(text), lines);
  EXPECT_EQ(fixture.store.points(), telnet.store.points());
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(replies, '\n')), imported.refused.size());
}

TEST(ImportBatch, TakesLinesWithAndWithoutTheCommand) {
  const std::string put = "put m 1500000000 1 host=a\nput m 1500000001 2 host=a\n";
  const std::string bare = "m 1500000002 3 host=a\nm 1500000003 4 host=a\n";
  for (const std::string& text : {put + bare, bare + put}) {
    WriterFixture fixture;
    EXPECT_EQ(import(fixture.writer, {}, part(text), 4).points, 4U);
    auto stored = fixture.stored();
    std::ranges::sort(stored);
    EXPECT_THAT(stored, ElementsAre("m 1500000000000 1 host=a", "m 1500000001000 2 host=a",
                                    "m 1500000002000 3 host=a", "m 1500000003000 4 host=a"));
  }
  // A metric may have the command's name.
  WriterFixture fixture;
  EXPECT_EQ(import(fixture.writer, {}, part("put 1500000000 1 host=a\n"), 1).points, 0U);
}

TEST(ImportBatch, ReadsTheHeaderOfALaterBlock) {
  WriterFixture fixture;
  const ImportFormat csv{.format = Format::kCsv, .options = {}};
  const ImportText text{.lines = "m,1500000000,1,a\nm,x,1,a\n", .header = "metric,time,value,host"};
  const Imported imported = import(fixture.writer, csv, text, 2);
  EXPECT_EQ(imported.points, 1U);
  ASSERT_EQ(imported.refused.size(), 1U);
  EXPECT_EQ(imported.refused[0].line, 2U);
  EXPECT_THAT(fixture.stored(), ElementsAre("m 1500000000000 1 host=a"));
}

TEST(ImportBatch, OnlyTheLastBlockEndsTheFile) {
  WriterFixture fixture;
  const ImportFormat format{.format = Format::kOpenMetrics, .options = {}};
  const std::string text = "up{job=\"x\"} 1 1500000000\n";
  EXPECT_THAT(import(fixture.writer, format, part(text), 1).refused, IsEmpty());
  const Imported last = import(fixture.writer, format, part(text, true), 1);
  ASSERT_EQ(last.refused.size(), 1U);
  EXPECT_THAT(last.refused[0].reason, HasSubstr("# EOF"));
}

TEST(ImportBatch, NamesWhatTheStoreRefuses) {
  WriterFixture fixture;
  fixture.store.refuse = [](const StoredPoint& point) -> std::optional<Error> {
    if (point.time == 1'500'000'001'000) return error_of(Errc::kInvalidArgument, "too old");
    if (point.time == 1'500'000'002'000) return error_of(Errc::kUnavailable, "busy");
    return std::nullopt;
  };
  const std::string text =
      "m 1500000000 1 host=a\nbad\nm 1500000001 1 host=a\n"
      "m 1500000002 1 host=a\nm 1500000003 1 host=a\n";
  const Imported imported = import(fixture.writer, {}, part(text), 5);
  EXPECT_EQ(imported.points, 2U);
  ASSERT_EQ(imported.refused.size(), 3U);
  EXPECT_EQ(imported.refused[0].line, 2U);
  EXPECT_FALSE(imported.refused[0].passes);
  EXPECT_EQ(imported.refused[1].line, 3U);
  EXPECT_THAT(imported.refused[1].reason, HasSubstr("too old"));
  EXPECT_FALSE(imported.refused[1].passes);
  EXPECT_EQ(imported.refused[2].line, 4U);
  EXPECT_TRUE(imported.refused[2].passes);
}

// A line with a thousand points has one reason.
TEST(ImportBatch, NamesALineOnceForEachReason) {
  WriterFixture fixture;
  fixture.store.refuse = [](const StoredPoint& point) -> std::optional<Error> {
    if (point.time % 2 == 0) return std::nullopt;
    return error_of(Errc::kInvalidArgument, point.time % 3 == 0 ? "three" : "odd");
  };
  std::string values;
  std::string times;
  for (int i = 1; i <= 1000; ++i) {
    values += "1,";
    times += fmt::format("{},", 1'500'000'000'000 + i);
  }
  values.back() = ']';
  times.back() = ']';
  const std::string text = "{\"metric\":{\"__name__\":\"up\",\"a\":\"b\"},\"values\":[" + values +
                           ",\"timestamps\":[" + times + "}\n";
  const ImportFormat format{.format = Format::kVmJson, .options = {}};
  const Imported imported = import(fixture.writer, format, part(text), 1);
  EXPECT_EQ(imported.points, 500U);
  ASSERT_EQ(imported.refused.size(), 2U);
  EXPECT_EQ(imported.refused[0].points + imported.refused[1].points, 500U);
  EXPECT_GT(imported.refused[0].points, 100U);
  EXPECT_GT(imported.refused[1].points, 100U);
}

TEST(ImportBatch, FailsWithTheStore) {
  WriterFixture fixture;
  const std::string text = "m 1500000000 1 host=a\n";
  fixture.store.append_fails = error_of(Errc::kUnavailable, "full");
  ImportBatch failing(fixture.writer, {});
  failing.add(part(text));
  const auto failed = run_task(failing.commit());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Errc::kUnavailable);
  fixture.store.append_fails.reset();
  EXPECT_EQ(import(fixture.writer, {}, part(text), 1).points, 1U);
  ImportBatch empty(fixture.writer, {});
  EXPECT_EQ(run_task(empty.commit()).value().points, 0U);
}

}  // namespace
}  // namespace halite::ingest
