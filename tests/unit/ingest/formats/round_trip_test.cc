// What a writer of a text format writes, its parser reads back: equal series, times and values, bit
// for bit. Keys match exactly the series that they name.
//
// HALITE_PROPERTY_CASES sets how many texts a format (200); HALITE_PROPERTY_SEED=N runs others.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/bytes/bytes.h"
#include "ingest/formats/point_format.h"
#include "ingest/series_cache/series_key_match.h"
#include "storage/catalog/series_table.h"
#include "tests/unit/ingest/formats/random_points.h"

namespace halite::ingest {
namespace {

std::uint64_t setting(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return otherwise;
  if (std::string_view(text) == "random") return std::random_device()();
  return std::strtoull(text, nullptr, 10);
}

struct ReadPoint {
  SeriesName series;
  TimestampMs time = 0;
  ValueBits value = 0;
  bool is_float = false;
  bool operator==(const ReadPoint&) const = default;
};

std::string text_of(const ReadPoint& point) {
  std::string text = point.series.metric + '{';
  for (const Tag& tag : point.series.tags) text += tag.key + '=' + tag.value + ' ';
  return text +
         fmt::format("}} {:016X}{} @ {}", point.value, point.is_float ? "" : "i", point.time);
}

// The series of a table, by name.
class Table {
 public:
  const storage::Series& series(const SeriesName& name) {
    const auto known = ids_.find(name);
    if (known != ids_.end()) return table_->at(known->second);
    storage::NewSeries added;
    added.metric_uid = uid(name.metric);
    added.metric = *names_.find(name.metric)->second.second;
    append_be_width(added.tsuid, added.metric_uid, 3);
    for (const Tag& tag : name.tags) {
      const std::uint64_t key = uid(tag.key);
      const std::uint64_t value = uid(tag.value);
      added.tags.push_back({.key = *names_.find(tag.key)->second.second,
                            .value = *names_.find(tag.value)->second.second,
                            .key_uid = key,
                            .value_uid = value});
    }
    std::ranges::sort(added.tags, {}, &storage::SeriesTag::key_uid);
    for (const storage::SeriesTag& tag : added.tags) {
      append_be_width(added.tsuid, tag.key_uid, 3);
      append_be_width(added.tsuid, tag.value_uid, 3);
    }
    const storage::SeriesId id = table_->add(added).value();
    ids_.emplace(name, id);
    return table_->at(id);
  }

 private:
  std::uint64_t uid(const std::string& name) {
    auto& entry = names_[name];
    if (entry.first == 0) entry = {names_.size(), std::make_unique<std::string>(name)};
    return entry.first;
  }

  std::map<std::string, std::pair<std::uint64_t, std::unique_ptr<std::string>>> names_;
  std::map<SeriesName, storage::SeriesId> ids_;
  std::unique_ptr<storage::SeriesTable> table_ =
      std::make_unique<storage::SeriesTable>(storage::SeriesLimits{});
};

class Reader final : public PointReceiver {
 public:
  Reader(const PointParser& parser, Table& table) : parser_(parser), table_(table) {}

  void series(const SeriesKey& key) override {
    const auto name = parser_.series_name(key);
    if (!name) {
      refuse(name.error().text);
      return;
    }
    if (names_series(key, table_.series(*name))) ++matched;
    const SeriesName& before = name_;
    if (before != *name && !before.metric.empty() && names_series(key, table_.series(before))) {
      wrong.push_back("a key matches " + before.metric);
    }
    name_ = *name;
  }
  void point(PointBits point) override {
    points.push_back({name_, point.time, point.value, (point.flags & kFloat) != 0});
  }
  void refuse(std::string reason) override { wrong.push_back(std::move(reason)); }
  void skip(std::string_view what) override { wrong.emplace_back(what); }

  std::vector<ReadPoint> points;
  std::vector<std::string> wrong;
  std::size_t matched = 0;

 private:
  const PointParser& parser_;
  Table& table_;
  SeriesName name_;
};

bool has_integers(Format format) {
  return format == Format::kOpenTsdb || format == Format::kInflux || format == Format::kCsv;
}

// How a point reads back.
ReadPoint expected_of(Format format, const SeriesName& series, PointBits point) {
  const bool is_float = (point.flags & kFloat) != 0;
  if (is_float || has_integers(format)) return {series, point.time, point.value, is_float};
  return {series, point.time, double_bits(static_cast<double>(as_integer(point.value))), true};
}

struct Written {
  std::string text;
  std::vector<ReadPoint> points;
  std::size_t series = 0;
  std::size_t refused_series = 0;
  std::size_t refused_points = 0;
};

void write_part(Format format, PointWriter& writer, RandomPoints& source, Written& out) {
  for (std::size_t i = 1 + source.below(5); i > 0; --i) {
    const SeriesName name = source.series();
    if (!writer.series(name, out.text)) {
      ++out.refused_series;
      continue;
    }
    ++out.series;
    for (std::size_t points = source.below(4); points > 0; --points) {
      const PointBits point = source.point();
      const std::size_t before = out.text.size();
      if (writer.point(point, out.text)) {
        out.points.push_back(expected_of(format, name, point));
      } else {
        ++out.refused_points;
        EXPECT_EQ(out.text.size(), before);
      }
    }
  }
}

class FormatRoundTrip : public testing::TestWithParam<Format> {
 protected:
  void read_back(const Written& written, std::size_t& keys_matched) {
    const auto parser = make_parser(GetParam(), {}, rules_);
    Reader reader(*parser, table_);
    std::string_view rest = written.text;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      ASSERT_NE(end, std::string_view::npos) << "a last line without an end";
      parser->line(rest.substr(0, end), reader);
      rest.remove_prefix(end + 1);
    }
    parser->end(reader);
    EXPECT_EQ(reader.wrong, std::vector<std::string>()) << written.text;
    ASSERT_EQ(reader.points.size(), written.points.size()) << written.text;
    for (std::size_t i = 0; i < written.points.size(); ++i) {
      EXPECT_EQ(text_of(reader.points[i]), text_of(written.points[i])) << written.text;
    }
    keys_matched += reader.matched;
  }

  static std::unique_ptr<PointWriter> new_writer() {
    FormatOptions options;
    options.special_characters = kSpecialCharacters;
    return make_writer(GetParam(), options);
  }

  static Written write(std::uint64_t seed, bool plain) {
    RandomPoints source(seed, plain);
    Written out;
    const auto first = new_writer();
    first->header(out.text);
    write_part(GetParam(), *first, source, out);
    if (seed % 3 != 0) {
      first->footer(out.text);
      return out;
    }
    first->finish(out.text);  // a second writer goes on
    const auto second = new_writer();
    write_part(GetParam(), *second, source, out);
    second->footer(out.text);
    return out;
  }

  static constexpr const char* kSpecialCharacters =
      " !\"#$%&'()*+,:;<=>?@[\\]^`{|}~\x01\x7F\r\t\u20AC\U0001F600";
  PointRules rules_{{}, kSpecialCharacters};
  Table table_;
};

TEST_P(FormatRoundTrip, WhatEveryFormatCanSay) {
  const std::uint64_t cases = setting("HALITE_PROPERTY_CASES", 200);
  const std::uint64_t seed = setting("HALITE_PROPERTY_SEED", 1);
  std::size_t matched = 0;
  for (std::uint64_t i = 0; i < cases && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", seed + i));
    const Written written = write(seed + i, true);
    EXPECT_EQ(written.refused_series, 0U);
    EXPECT_EQ(written.refused_points, 0U);
    read_back(written, matched);
  }
  EXPECT_GT(matched, cases) << "keys of plain names match their series";
}

TEST_P(FormatRoundTrip, WhatIsWrittenComesBack) {
  const std::uint64_t cases = setting("HALITE_PROPERTY_CASES", 200);
  const std::uint64_t seed = setting("HALITE_PROPERTY_SEED", 1);
  std::size_t matched = 0;
  std::size_t series = 0;
  std::size_t points = 0;
  for (std::uint64_t i = 0; i < cases && !HasFailure(); ++i) {
    SCOPED_TRACE(fmt::format("seed {}", seed + i));
    const Written written = write(seed + i, false);
    series += written.series;
    points += written.points.size();
    read_back(written, matched);
  }
  EXPECT_GT(series, cases / 4);
  EXPECT_GT(points, cases / 4);
}

TEST_P(FormatRoundTrip, IsNamedAndDetected) {
  EXPECT_EQ(format_named(format_name(GetParam())), GetParam());
  EXPECT_EQ(format_named("x"), std::nullopt);
  const auto writer = make_writer(GetParam());
  std::string text;
  writer->header(text);
  ASSERT_TRUE(writer->series({.metric = "m", .tags = {{.key = "a", .value = "b"}}}, text));
  const PointBits point{.time = 1'700'000'000'250, .value = double_bits(1), .flags = kFloat};
  ASSERT_TRUE(writer->point(point, text));
  writer->footer(text);
  EXPECT_EQ(detect_format(text), GetParam()) << text;
  EXPECT_EQ(detect_format(""), std::nullopt);
  EXPECT_EQ(detect_format("GET / HTTP/1.1\n"), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(Formats, FormatRoundTrip, testing::ValuesIn(kFormats),
                         [](const auto& test) { return std::string(format_name(test.param)); });

TEST(FormatWriters, RefuseWhatTheyCannotSay) {
  std::string text;
  const SeriesName tagless{.metric = "m", .tags = {}};
  EXPECT_EQ(make_writer(Format::kOpenTsdb)->series(tagless, text).error(),
            "opentsdb has no form for the names of this series: it has no tags");
  const SeriesName lines{.metric = "m", .tags = {{.key = "a", .value = "b\nc"}}};
  EXPECT_TRUE(make_writer(Format::kPrometheus)->series(lines, text));
  EXPECT_TRUE(make_writer(Format::kVmJson)->series(lines, text));
  EXPECT_FALSE(make_writer(Format::kCsv)->series(lines, text));
  EXPECT_FALSE(make_writer(Format::kInflux)->series(lines, text));
  EXPECT_FALSE(make_writer(Format::kGraphite)->series(lines, text));
  EXPECT_EQ(text, "");
  EXPECT_EQ(make_writer(Format::kGraphite)
                ->series({.metric = "m", .tags = {{.key = "a", .value = "~b"}}}, text)
                .error(),
            "graphite has no form for the names of this series: the tag \"a=~b\" has a value that "
            "begins with '~'");
  const SeriesName plain{.metric = "m", .tags = {{.key = "a", .value = "b"}}};
  const PointBits stale{.time = 1'700'000'000'000, .value = 0x7FF0'0000'0000'0002, .flags = kFloat};
  for (const Format format : kFormats) {
    const auto writer = make_writer(format);
    ASSERT_TRUE(writer->series(plain, text));
    EXPECT_FALSE(writer->point(stale, text)) << format_name(format);
  }
}

TEST(FormatWriters, WriteStalenessMarkersAsNullIfTold) {
  FormatOptions options;
  options.vm_json_nulls = true;
  options.vm_json_points_max = 2;
  const auto writer = make_writer(Format::kVmJson, options);
  std::string text;
  ASSERT_TRUE(writer->series({.metric = "m", .tags = {}}, text));
  const auto put = [&](TimestampMs time, ValueBits value, std::uint8_t flags) {
    return writer->point({.time = time, .value = value, .flags = flags}, text).has_value();
  };
  EXPECT_TRUE(put(1'700'000'000'000, double_bits(1), kFloat));
  EXPECT_TRUE(put(1'700'000'001'000, kStaleMarker, kFloat));
  EXPECT_FALSE(put(1'700'000'002'000, kStaleMarker, 0)) << "an integer with the same bits";
  EXPECT_FALSE(put(1'700'000'002'000, kStaleMarker + 1, kFloat)) << "another NaN";
  EXPECT_TRUE(put(1'700'000'003'000, integer_bits(3), 0));
  writer->footer(text);
  EXPECT_EQ(
      text,
      R"({"metric":{"__name__":"m"},"values":[1,null],"timestamps":[1700000000000,1700000001000]})"
      "\n"
      R"({"metric":{"__name__":"m"},"values":[3],"timestamps":[1700000003000]})"
      "\n");
}

TEST(FormatWriters, WriteLines) {
  const SeriesName name{.metric = "sys.cpu", .tags = {{.key = "host", .value = "web 1"}}};
  const PointBits one{
      .time = 1'700'000'000'250, .value = double_bits(1), .flags = kFloat | kMillis};
  const PointBits two{.time = 1'700'000'001'000, .value = integer_bits(2), .flags = 0};
  const auto text_in = [&](Format format) {
    const auto writer = make_writer(format);
    std::string text;
    writer->header(text);
    EXPECT_TRUE(writer->series(name, text));
    EXPECT_TRUE(writer->point(one, text));
    EXPECT_TRUE(writer->point(two, text));
    writer->footer(text);
    return text;
  };
  EXPECT_EQ(text_in(Format::kInflux),
            "sys.cpu,host=web\\ 1 value=1 1700000000250000000\n"
            "sys.cpu,host=web\\ 1 value=2i 1700000001000000000\n");
  EXPECT_EQ(text_in(Format::kPrometheus),
            "{\"sys.cpu\",host=\"web 1\"} 1 1700000000250\n"
            "{\"sys.cpu\",host=\"web 1\"} 2 1700000001000\n");
  EXPECT_EQ(text_in(Format::kOpenMetrics),
            "{\"sys.cpu\",host=\"web 1\"} 1 1700000000.250\n"
            "{\"sys.cpu\",host=\"web 1\"} 2 1700000001.000\n"
            "# EOF\n");
  EXPECT_EQ(text_in(Format::kVmJson),
            "{\"metric\":{\"__name__\":\"sys.cpu\",\"host\":\"web 1\"},\"values\":[1,2],"
            "\"timestamps\":[1700000000250,1700000001000]}\n");
  EXPECT_EQ(text_in(Format::kPromDump),
            "{__name__=\"sys.cpu\", host=\"web 1\"} 1 1700000000250\n"
            "{__name__=\"sys.cpu\", host=\"web 1\"} 2 1700000001000\n");
  EXPECT_EQ(text_in(Format::kCsv),
            "metric,time,value,host\n"
            "sys.cpu,1700000000250,1.0,web 1\n"
            "sys.cpu,1700000001,2,web 1\n");
  const auto text_without_blanks = [&](Format format) {
    const auto writer = make_writer(format);
    std::string text;
    EXPECT_TRUE(writer->series({.metric = "m", .tags = {{.key = "a", .value = "b"}}}, text));
    EXPECT_TRUE(writer->point(one, text));
    EXPECT_TRUE(writer->point(two, text));
    return text;
  };
  EXPECT_EQ(text_without_blanks(Format::kOpenTsdb),
            "m 1700000000250 1.0 a=b\nm 1700000001 2 a=b\n");
  EXPECT_EQ(text_without_blanks(Format::kGraphite), "m;a=b 1 1700000000.250\nm;a=b 2 1700000001\n");
}

TEST(FormatWriters, LongSeriesHaveSeveralLinesOfJson) {
  const auto writer = make_writer(Format::kVmJson);
  std::string text;
  ASSERT_TRUE(writer->series({.metric = "m", .tags = {}}, text));
  for (TimestampMs i = 0; i < 10'001; ++i) {
    ASSERT_TRUE(writer->point({.time = i, .value = double_bits(1), .flags = kFloat}, text));
  }
  writer->footer(text);
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_TRUE(
      text.ends_with("\n{\"metric\":{\"__name__\":\"m\"},\"values\":[1],"
                     "\"timestamps\":[10000]}\n"));
}

}  // namespace
}  // namespace halite::ingest
