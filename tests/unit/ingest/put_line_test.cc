#include "ingest/telnet/put_line.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace halite::ingest {
namespace {

PointRules rules_with(IngestLimits limits = {.tags_max = 8}, std::string_view special = "") {
  return {limits, special};
}

// The answer line, without its end; empty for a line that is taken.
std::string reply(std::string_view line, const PointRules& rules = rules_with()) {
  const auto point = parse_put_line(line, rules);
  if (point) return "";
  std::string answer = telnet_refusal(point.error());
  answer.pop_back();
  return answer;
}

NamedPoint taken(std::string_view line) {
  const auto point = parse_put_line(line, rules_with());
  EXPECT_TRUE(point.has_value()) << line << ": " << point.error().text;
  return point.value_or(NamedPoint{});
}

SeriesName series(std::string metric, std::vector<Tag> tags) {
  return {.metric = std::move(metric), .tags = std::move(tags)};
}

TEST(PutLine, BecomesAPoint) {
  const NamedPoint point = taken("put sys.cpu.user 1356998400 42 host=web01 cpu=0");
  EXPECT_EQ(point.series, series("sys.cpu.user", {{"cpu", "0"}, {"host", "web01"}}));
  EXPECT_EQ(point.time, 1356998400000);
  EXPECT_EQ(point.value, integer_bits(42));
  EXPECT_EQ(point.flags, 0);
}

TEST(PutLine, FloatsAreMarkedAndNotWide) {
  const NamedPoint point = taken("put m 1356998400 4.25 host=a");
  EXPECT_EQ(as_double(point.value), 4.25);
  EXPECT_EQ(point.flags, kFloat);
}

TEST(PutLine, TimesAreMillisecondsFromTheThirtyThirdBitOn) {
  EXPECT_EQ(taken("put m 4294967295 1 host=a").time, 4294967295000);
  EXPECT_EQ(taken("put m 4294967295 1 host=a").flags, 0);
  EXPECT_EQ(taken("put m 4294967296 1 host=a").time, 4294967296);
  EXPECT_EQ(taken("put m 4294967296 1.5 host=a").flags, kMillis | kFloat);
  EXPECT_EQ(taken("put m 9999999999999 1 host=a").time, 9999999999999);
  EXPECT_EQ(taken("put m 1 1 host=a").time, 1000);
}

TEST(PutLine, DotInATimeIsLeftOut) {
  EXPECT_EQ(taken("put m 1356998400.500 1 host=a").time, 1356998400500);
  EXPECT_EQ(taken("put m 1356998400.5 1 host=a").time, 13569984005);
  EXPECT_EQ(taken("put m 1.3.5 1 host=a").time, 135000);
  EXPECT_EQ(reply("put m . 1 host=a"), "put: invalid value: Empty string");
}

TEST(PutLine, RefusalsAreWordedAsRecorded) {
  const struct {
    std::string_view line;
    std::string_view answer;
  } recorded_lines[] = {
      {"put", "put: illegal argument: not enough arguments (need least 4, got 0)"},
      {"put m", "put: illegal argument: not enough arguments (need least 4, got 1)"},
      {"put m 1356998400", "put: illegal argument: not enough arguments (need least 4, got 2)"},
      {"put m 1356998400 1", "put: illegal argument: not enough arguments (need least 4, got 3)"},
      {"put m 1356998400 abc host=a", "put: invalid value: Invalid character 'a' in abc"},
      {"put m abc 1 host=a", "put: invalid value: Invalid character 'a' in abc"},
      {"put m 0 1 host=a", "put: illegal argument: invalid timestamp: 0"},
      {"put m -5 1 host=a", "put: illegal argument: invalid timestamp: -5"},
      {"put m 1356998400 1 host", "put: illegal argument: invalid tag: host"},
      {"put m 1356998400 1 host=", "put: illegal argument: invalid tag: host="},
      {"put m 1356998400 1 =a", "put: illegal argument: invalid tag: =a"},
      {"put m 1356998400 1 host=a=b", "put: illegal argument: invalid tag: host=a=b"},
      {"put m 1356998400 1 host=a host=b",
       "put: illegal argument: duplicate tag: host=b, tags={host=a}"},
      {"put m 1356998400 NaN host=a", "put: invalid value: Invalid character 'N' in NaN"},
      {"put m 1356998400 NaN. host=a", "put: invalid value: For input string: \"NaN.\""},
      {"put m 1356998400 - host=a", "put: invalid value: Just a sign, no value: -"},
      {"put m 1356998400 9223372036854775808 host=a",
       "put: invalid value: Overflow in 9223372036854775808"},
      {"put m 1356998400 99999999999999999999 host=a",
       "put: invalid value: Value too long: 99999999999999999999"},
      {"put m 1356998400 1e host=a", "put: invalid value: For input string: \"1e\""},
      {"put m 1356998400 1.2.3 host=a", "put: invalid value: multiple points"},
      {"put m 1356998405 1e999 host=a",
       "put: illegal argument: value is NaN or Infinite: Infinity for metric=m "
       "timestamp=1356998405"},
      {"put m 1356998405 -1e999 host=a",
       "put: illegal argument: value is NaN or Infinite: -Infinity for metric=m "
       "timestamp=1356998405"},
      {"put m! 1356998400 1 host=a",
       "put: illegal argument: Invalid metric name (\"m!\"): illegal character: !"},
      {"put m 1356998400 1 ho!st=a",
       "put: illegal argument: Invalid tag name with value [a] (\"ho!st\"): illegal character: !"},
      {"put m 1356998400 1 host=a:b",
       "put: illegal argument: Invalid tag value with key [host] (\"a:b\"): illegal character: :"},
      {"put  1356998400 1 host=a", "put: illegal argument: empty metric name"},
      {"put  m 1356998400 1 host=a", "put: illegal argument: empty metric name"},
      {"put m  1356998400 1 host=a", "put: invalid value: Empty string"},
      {"put m 1356998400  1 host=a", "put: illegal argument: empty value"},
      {"put m 13569984000000 1 host=a",
       "put: illegal argument: bad timestamp=13569984000000 when trying to add value=[1]/0 to "
       "metric=m, tags={host=a}"},
      {"put m 10000000000000 1 host=a",
       "put: illegal argument: bad timestamp=10000000000000 when trying to add value=[1]/0 to "
       "metric=m, tags={host=a}"},
      {"put m 12345678901234567890 1 host=a",
       "put: invalid value: Value too long: 12345678901234567890"},
      {"put m 1356998400 1 ", "put: illegal argument: Need at least one tag (metric=m, tags={})"},
      {"put m 1356998400 1   ", "put: illegal argument: Need at least one tag (metric=m, tags={})"},
  };
  for (const auto& recorded : recorded_lines) EXPECT_EQ(reply(recorded.line), recorded.answer);
}

TEST(PutLine, BadTimestampShowsTheBytesOfTheValue) {
  const auto answer = [](std::string_view value) {
    return reply("put m 99999999999999 " + std::string(value) + " host=a");
  };
  const auto with = [](std::string_view bytes) {
    return "put: illegal argument: bad timestamp=99999999999999 when trying to add value=" +
           std::string(bytes) + " to metric=m, tags={host=a}";
  };
  EXPECT_EQ(answer("-1"), with("[-1]/0"));
  EXPECT_EQ(answer("128"), with("[0, -128]/1"));
  EXPECT_EQ(answer("-32769"), with("[-1, -1, 127, -1]/3"));
  EXPECT_EQ(answer("4294967296"), with("[0, 0, 0, 1, 0, 0, 0, 0]/7"));
  EXPECT_EQ(answer("1.5"), with("[63, -64, 0, 0]/11"));
  EXPECT_EQ(answer("0.1"), with("[63, -71, -103, -103, -103, -103, -103, -102]/15"));
}

TEST(PutLine, ChecksComeInOpenTsdbsOrder) {
  // Time before tags, tags before value, value before the names.
  EXPECT_EQ(reply("put m! x y host"), "put: invalid value: Invalid character 'x' in x");
  EXPECT_EQ(reply("put m! 1 y host"), "put: illegal argument: invalid tag: host");
  EXPECT_EQ(reply("put m! 1 y host=!"), "put: invalid value: Invalid character 'y' in y");
  EXPECT_EQ(reply("put m! 1 1 host=!"),
            "put: illegal argument: Invalid metric name (\"m!\"): illegal character: !");
}

TEST(PutLine, TagsCountIsLimitedAndToldInJavasOrder) {
  std::string line = "put m 1356998400 1";
  for (int i = 0; i < 8; ++i) line += " k" + std::to_string(i) + "=v" + std::to_string(i);
  EXPECT_EQ(reply(line), "");
  EXPECT_EQ(reply(line + " k8=v8"),
            "put: illegal argument: Too many tags: 9 maximum allowed: 8, tags: {k0=v0, k1=v1, "
            "k2=v2, k3=v3, k4=v4, k5=v5, k6=v6, k7=v7, k8=v8}");
  EXPECT_EQ(reply(line + " k8=v8 k9=v9 k10=v10 k11=v11"),
            "put: illegal argument: Too many tags: 12 maximum allowed: 8, tags: {k0=v0, k1=v1, "
            "k2=v2, k3=v3, k4=v4, k5=v5, k11=v11, k6=v6, k10=v10, k7=v7, k8=v8, k9=v9}");
}

TEST(PutLine, FirstBadTagIsTheFirstInJavasMap) {
  // "b" comes before "z" there, whatever the order in the line.
  EXPECT_EQ(reply("put m 1 1 z=! b=?"),
            "put: illegal argument: Invalid tag value with key [b] (\"?\"): illegal character: ?");
}

TEST(PutLine, NameLengthIsLimited) {
  const IngestLimits limits{.name_bytes_max = 10};
  const PointRules rules = rules_with(limits);
  EXPECT_EQ(reply("put 1234567890 1 1 1234567890=1234567890", rules), "");
  EXPECT_EQ(reply("put 12345678901 1 1 host=a", rules),
            "put: illegal argument: Invalid metric name: 11 bytes long, at most 10 are allowed "
            "(ingest.name_bytes_max)");
  EXPECT_EQ(reply("put m 1 1 12345678901=a", rules),
            "put: illegal argument: Invalid tag name with value [a]: 11 bytes long, at most 10 are "
            "allowed (ingest.name_bytes_max)");
  EXPECT_EQ(reply("put m 1 1 a=12345678901", rules),
            "put: illegal argument: Invalid tag value with key [a]: 11 bytes long, at most 10 are "
            "allowed (ingest.name_bytes_max)");
}

TEST(PutLine, EveryOtherAsciiCharacterIsIllegal) {
  for (int c = 1; c < 128; ++c) {
    const char byte = static_cast<char>(c);
    if (byte == ' ') continue;  // it would be another word
    const std::string name = std::string("m") + byte + "x";
    const bool legal = std::isalnum(c) != 0 || std::string_view("-_./").contains(byte);
    EXPECT_EQ(reply("put " + name + " 1 1 host=a"),
              legal ? ""
                    : "put: illegal argument: Invalid metric name (\"" + name +
                          "\"): illegal character: " + byte);
  }
}

TEST(PutLine, SpecialCharactersCanBeAllowed) {
  const PointRules rules = rules_with({}, "!~*()_:€");
  EXPECT_EQ(reply("put m 1356998400 1 ho!st=a(b)*:_~€", rules), "");
  EXPECT_EQ(reply("put m 1 1 host=a@b", rules),
            "put: illegal argument: Invalid tag value with key [host] (\"a@b\"): illegal "
            "character: @");
}

TEST(PutLine, LettersOfAnyAlphabetAreLegal) {
  EXPECT_EQ(taken("put température 1 1 host=zürich").series,
            series("température", {{"host", "zürich"}}));
  EXPECT_EQ(taken("put 温度 1 1 город=Москва").series, series("温度", {{"город", "Москва"}}));
  EXPECT_EQ(reply("put €uro 1 1 host=a"),
            "put: illegal argument: Invalid metric name (\"€uro\"): illegal character: €");
}

TEST(PutLine, OtherBytesAreLatin1AndAnsweredInUtf8) {
  EXPECT_EQ(taken("put temp\xE9rature 1 1 host=z\xFCrich").series,
            series("température", {{"host", "zürich"}}));
  EXPECT_EQ(reply("put m\xA7 1 1 host=\xFC"),
            "put: illegal argument: Invalid metric name (\"m§\"): illegal character: §");
}

TEST(PutLine, AnswersAreAlwaysUtf8) {
  EXPECT_EQ(reply("put m😀 1 1 host=a"),
            "put: illegal argument: Invalid metric name (\"m😀\"): illegal character: \uFFFD");
}

TEST(PutLine, BlanksAreForgivenOnlyAmongTags) {
  const NamedPoint plain = taken("put m 1 1 host=a dc=b");
  EXPECT_EQ(taken("put m 1 1  host=a dc=b").series, plain.series);
  EXPECT_EQ(taken("put m 1 1 host=a   dc=b  ").series, plain.series);
  EXPECT_EQ(taken("put m 1 1 dc=b host=a").series, plain.series);
  EXPECT_EQ(taken("put m 1 1 host=a dc=b host=a").series, plain.series);
  EXPECT_EQ(taken("put m 1 1 host=a dc=b\r").series, plain.series);
}

TEST(PutLine, AgentsLinesAreTaken) {
  // tcollector, collectd (blanks doubled, carriage return), Telegraf, statsd (trailing blanks).
  EXPECT_EQ(taken("put proc.stat.cpu 1356998400 27342 type=user host=h1").series,
            series("proc.stat.cpu", {{"host", "h1"}, {"type", "user"}}));
  EXPECT_EQ(taken("put cpu.cpu-idle 1356998400 97.5 fqdn=h1.example.org  host=h1 \r").series,
            series("cpu.cpu-idle", {{"fqdn", "h1.example.org"}, {"host", "h1"}}));
  EXPECT_EQ(taken("put cpu_usage_idle 1356998400 99.849 cpu=cpu-total host=h1 ").series,
            series("cpu_usage_idle", {{"cpu", "cpu-total"}, {"host", "h1"}}));
  EXPECT_EQ(taken("put stats.timers.x.mean 1356998400 1.25 source=statsd  ").series,
            series("stats.timers.x.mean", {{"source", "statsd"}}));
  EXPECT_EQ(reply("put m 1356998400 1 host=a, dc=b"),
            "put: illegal argument: Invalid tag value with key [host] (\"a,\"): illegal character: "
            ",");
}

TEST(PutPieces, AreFoundWithoutALookAtTheTags) {
  PutPieces pieces;
  ASSERT_TRUE(split_put_line("put m 1356998400 -1.5  host=a =b c \r", pieces));
  EXPECT_EQ(pieces.metric, "m");
  EXPECT_EQ(pieces.tags, " host=a =b c ");
  EXPECT_EQ(pieces.time, 1356998400000);
  EXPECT_EQ(as_double(pieces.value), -1.5);
  EXPECT_EQ(pieces.flags, kFloat);
}

TEST(PutPieces, AreLeftToTheFullParserWhereTheLineIsOdd) {
  PutPieces pieces;
  for (const std::string_view line :
       {"", "put", "put ", "put m", "put m 1 1", "put  1 1 host=a", "put m 0 1 host=a",
        "put m 1.5 1 host=a", "put m -1 1 host=a", "put m +1 1 host=a", "put m 1 x host=a",
        "put m 1 1e999 host=a", "put m 1  1 host=a", "put m  1 1 host=a",
        "put m 10000000000000 1 host=a", "get m 1 1 host=a"}) {
    EXPECT_FALSE(split_put_line(line, pieces)) << line;
  }
}

TEST(PutPieces, SeriesIsTheFullParsers) {
  const PointRules rules = rules_with();
  for (const std::string_view line :
       {"put m 1 1 host=a dc=b", "put m 1 1  host=a  dc=b ", "put m! 1 1 host=a", "put m 1 1 host",
        "put m 1 1 a=1 a=2", "put m\xE9 1 1 h=\xFC", "put m\xA7 1 1 h=a", "put m 1 1 ",
        "put mé 1 1 h=\xFC"}) {
    PutPieces pieces;
    ASSERT_TRUE(split_put_line(line, pieces)) << line;
    const auto series = parse_put_series(pieces.metric, pieces.tags, rules);
    const auto point = parse_put_line(line, rules);
    ASSERT_EQ(series.has_value(), point.has_value()) << line;
    if (series) {
      EXPECT_EQ(*series, point->series) << line;
    } else {
      EXPECT_EQ(series.error().text, point.error().text) << line;
    }
  }
}

}  // namespace
}  // namespace halite::ingest
