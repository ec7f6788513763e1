#include "ingest/json/put_json.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/json/sent_point.h"

namespace halite::ingest {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kPoint =
    R"({"metric":"m","timestamp":1356998400,"value":1,"tags":{"host":"a"}})";

class Collect final : public JsonSink {
 public:
  Result<void> take(std::span<const JsonElement> elements) override {
    for (const JsonElement& element : elements) {
      texts.emplace_back(element.text);
      fast.push_back(element.fast);
      if (element.fast) {
        metrics.emplace_back(element.pieces.metric);
        tags.emplace_back(element.pieces.tags);
      }
      pieces.push_back(element.pieces);
    }
    return {};
  }

  std::vector<std::string> texts;
  std::vector<bool> fast;
  std::vector<std::string> metrics;
  std::vector<std::string> tags;
  std::vector<JsonPieces> pieces;
};

Result<Collect> scan(std::string body, const IngestLimits& limits = {}) {
  PutJsonParser parser(limits);
  Collect collect;
  TRY_VOID(parser.scan(body, collect));
  return collect;
}

std::string scan_error(std::string_view body) {
  const auto scanned = scan(std::string(body));
  return scanned ? "none" : scanned.error().message;
}

Result<SentPoint> read(std::string_view element, std::size_t depth_max = 16) {
  SentPointReader reader(depth_max);
  return reader.read(element);
}

std::string with_timestamp(std::string_view timestamp) {
  return R"({"metric":"m","timestamp":)" + std::string(timestamp) +
         R"(,"value":1,"tags":{"host":"a"}})";
}

std::string with_value(std::string_view value) {
  return R"({"metric":"m","timestamp":1356998400,"value":)" + std::string(value) +
         R"(,"tags":{"host":"a"}})";
}

// The error a point gets; empty for one that is taken.
std::string judged(std::string_view element) {
  const auto sent = read(element);
  if (!sent) return "body: " + sent.error().message;
  const auto point = validate_sent_point(*sent, PointRules({.tags_max = 8}, ""));
  return point ? "" : http_refusal(point.error());
}

TEST(PutJson, OneObjectIsOnePoint) {
  const auto scanned = scan("  " + std::string(kPoint) + "\r\n");
  ASSERT_TRUE(scanned);
  EXPECT_THAT(scanned->texts, ElementsAre(kPoint));
  EXPECT_THAT(scanned->metrics, ElementsAre("m"));
  EXPECT_THAT(scanned->tags, ElementsAre(R"({"host":"a"})"));
  EXPECT_EQ(scanned->pieces[0].time, 1356998400000);
  EXPECT_EQ(scanned->pieces[0].value, integer_bits(1));
  EXPECT_EQ(scanned->pieces[0].flags, 0);
}

TEST(PutJson, ArrayIsAsManyAsItHolds) {
  for (const std::size_t count : {1U, 2U, 31U, 32U, 33U, 100U}) {
    std::string body = "[";
    for (std::size_t i = 0; i < count; ++i) body += (i == 0 ? "" : " , ") + std::string(kPoint);
    const auto scanned = scan(body + "]");
    ASSERT_TRUE(scanned);
    EXPECT_EQ(scanned->texts, std::vector<std::string>(count, std::string(kPoint)));
    EXPECT_EQ(scanned->metrics.size(), count);
  }
}

TEST(PutJson, PiecesStandAsTheyWereSent) {
  const auto scanned = scan(R"([ { "tags" : { "host" : "a", "dc":"}\"" } , "value":"2.5" ,
    "timestamp" : 1356998400250 , "metric" : "t\u00e9" } ])");
  ASSERT_TRUE(scanned);
  EXPECT_THAT(scanned->metrics, ElementsAre(R"(t\u00e9)"));
  EXPECT_THAT(scanned->tags, ElementsAre(R"({ "host" : "a", "dc":"}\"" })"));
  EXPECT_EQ(scanned->pieces[0].time, 1356998400250);
  EXPECT_EQ(as_double(scanned->pieces[0].value), 2.5);
  EXPECT_EQ(scanned->pieces[0].flags, kFloat | kWide | kMillis);
}

TEST(PutJson, OddElementsHaveNoPieces) {
  for (const std::string_view element :
       {R"({})", R"({"metric":"m"})", R"({"metric":"","timestamp":1,"value":1,"tags":{"h":"a"}})",
        R"({"metric":null,"timestamp":1,"value":1,"tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":0,"value":1,"tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":"1","value":1,"tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":1.5,"value":1,"tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":1,"value":true,"tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":1,"value":01,"tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":1,"value":"x","tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":1,"value":"\u0031","tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":1,"value":1e999,"tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":1,"value":1,"tags":null})",
        R"({"metric":"m","timestamp":1,"value":1,"tags":{"h":"a"},"more":[1]})",
        R"({"metric":"m","timestamp":1,"value":1,"tags":{"h":"a"},"m\u0065tric":"n"})",
        R"({"metric":"m","metric":"n","timestamp":1,"value":1,"tags":{"h":"a"}})",
        R"({"metric":"m","timestamp":10000000000000,"value":1,"tags":{"h":"a"}})"}) {
    const auto scanned = scan(std::string(element));
    ASSERT_TRUE(scanned) << element;
    EXPECT_THAT(scanned->fast, ElementsAre(false)) << element;
    EXPECT_THAT(scanned->texts, ElementsAre(element));
  }
}

TEST(PutJson, UnknownScalarsDoNotMakeAnElementOdd) {
  const auto scanned = scan(
      R"([{"x":1.5e3,"metric":"m","y":"z","timestamp":1,"value":1,"tags":{"h":"a"},"n":null}])");
  ASSERT_TRUE(scanned);
  EXPECT_THAT(scanned->fast, ElementsAre(true));
}

TEST(PutJson, NullIsAnElementWithoutText) {
  const auto scanned = scan("[null, " + std::string(kPoint) + ",null]");
  ASSERT_TRUE(scanned);
  EXPECT_THAT(scanned->texts, ElementsAre("", kPoint, ""));
}

TEST(PutJson, WholeBodiesAreRefusedInOpenTsdbsWords) {
  EXPECT_EQ(scan_error(""), "Missing request content");
  EXPECT_EQ(scan_error(" \r\n\t"), "Missing request content");
  EXPECT_EQ(scan_error("abc"), "The JSON must start as an object or an array");
  EXPECT_EQ(scan_error("\"m\""), "The JSON must start as an object or an array");
  EXPECT_EQ(scan_error("null"), "The JSON must start as an object or an array");
  EXPECT_EQ(scan_error("[]"), "No datapoints found in content");
  EXPECT_EQ(scan_error("[ ]"), "No datapoints found in content");
  const std::string point(kPoint);
  for (const std::string& body : {std::string("["),
                                  std::string("{"),
                                  "[" + point,
                                  point.substr(0, point.size() - 1),
                                  "[" + point + ",]",
                                  "[" + point + " " + point + "]",
                                  point + point,
                                  point + " x",
                                  "[" + point + "]]",
                                  "[" + point + "}",
                                  std::string("[1]"),
                                  std::string("[[]]"),
                                  std::string("[\"a\"]"),
                                  std::string("[true]"),
                                  std::string("[nul]"),
                                  std::string(R"({"metric" "m"})"),
                                  std::string(R"({"metric":})"),
                                  std::string(R"({"metric":"m",})"),
                                  std::string(R"({metric:"m"})"),
                                  std::string("{\"metric\":\"a\nb\"}"),
                                  std::string(R"({"metric":"m":"n"})"),
                                  "[" + point + ",," + point + "]"}) {
    EXPECT_EQ(scan_error(body), "Unable to parse the given JSON") << body;
  }
}

TEST(PutJson, RefusalsSayMore) {
  const auto scanned = scan("[{]");
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().code, Errc::kInvalidArgument);
  EXPECT_NE(scanned.error().details, "");
}

TEST(PutJson, PointsARequestAreLimited) {
  const IngestLimits limits{.points_per_request_max = 3};
  const std::string point(kPoint);
  EXPECT_TRUE(scan("[" + point + "," + point + "," + point + "]", limits));
  const auto scanned = scan("[" + point + "," + point + "," + point + "," + point + "]", limits);
  ASSERT_FALSE(scanned);
  EXPECT_EQ(scanned.error().code, Errc::kTooLarge);
  EXPECT_EQ(scanned.error().message, "More than 3 data points in one request");
  EXPECT_THAT(scanned.error().details, HasSubstr("ingest.points_per_request_max"));
}

TEST(PutJson, BrokenUtf8CostsOnlyItsOwnPoint) {
  const auto scanned = scan(R"([{"metric":")"
                            "\xFF"
                            R"(","timestamp":1,"value":1,"tags":{"h":"a"}},)" +
                            std::string(kPoint) + "]");
  ASSERT_TRUE(scanned);
  EXPECT_THAT(scanned->metrics, ElementsAre("\uFFFD", "m"));
}

TEST(PutJson, OneBufferCanBeScannedTwice) {
  PutJsonParser parser({});
  std::string body = "[" + std::string(kPoint) + "," + std::string(kPoint) + "]";
  const std::string before = body;
  for (int round = 0; round < 2; ++round) {
    Collect collect;
    ASSERT_TRUE(parser.scan(body, collect));
    EXPECT_EQ(collect.texts.size(), 2U);
  }
  EXPECT_EQ(body, before);
}

TEST(PutJson, LargeBodyAfterSmallOneAndBack) {
  PutJsonParser parser({});
  for (const std::size_t points : {1U, 100'000U, 1U}) {
    std::string body = "[";
    for (std::size_t i = 0; i < points; ++i) body += (i == 0 ? "" : ",") + std::string(kPoint);
    body += "]";
    Collect collect;
    ASSERT_TRUE(parser.scan(body, collect));
    EXPECT_EQ(collect.texts.size(), points);
  }
}

TEST(SentPoint, TimestampsAreCoercedAsJacksonDoes) {
  const auto timestamp = [](std::string_view text) -> std::int64_t {
    const auto sent = read(with_timestamp(text));
    return sent ? sent->timestamp : -999;
  };
  EXPECT_EQ(timestamp("1356998400"), 1356998400);
  EXPECT_EQ(timestamp("\"1356998400\""), 1356998400);
  EXPECT_EQ(timestamp("\" 1356998400 \""), 1356998400);
  EXPECT_EQ(timestamp("\"+5\""), 5);
  EXPECT_EQ(timestamp("1356998400.9"), 1356998400);
  EXPECT_EQ(timestamp("-1.9"), -1);
  EXPECT_EQ(timestamp("1.356998400e9"), 1356998400);
  EXPECT_EQ(timestamp("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(timestamp("-9223372036854775808"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(timestamp("null"), 0);
  EXPECT_EQ(timestamp("\"\""), 0);
  EXPECT_EQ(timestamp("NaN"), 0);
  for (const std::string_view wrong :
       {"9223372036854775808", "1e19", "-1e19", "true", "\"x\"", "\"1.5\"", "{}", "[]", "Infinity",
        "01", "1.", ".5", "+1", "-", "tru", "\"\\x\""}) {
    EXPECT_EQ(timestamp(wrong), -999) << wrong;
  }
}

TEST(SentPoint, ScalarsBecomeTexts) {
  const auto value = [](std::string_view text) { return read(with_value(text))->value; };
  EXPECT_EQ(value("1.50"), "1.50");
  EXPECT_EQ(value("1E3"), "1E3");
  EXPECT_EQ(value("\"abc\""), "abc");
  EXPECT_EQ(value("true"), "true");
  EXPECT_EQ(value("NaN"), "NaN");
  EXPECT_EQ(value("-Infinity"), "-Infinity");
  EXPECT_EQ(value("null"), std::nullopt);
  EXPECT_EQ(value("12345678901234567890123"), "12345678901234567890123");
  const auto sent = read(R"({"metric":7,"tags":{"a":1.0,"b":false,"c":null},"tsuid":"01"})");
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->metric, "7");
  EXPECT_EQ(sent->tags->to_string(), "{a=1.0, b=false, c=null}");
  EXPECT_EQ(sent->tsuid, "01");
}

TEST(SentPoint, WrongShapesFailTheWholeBody) {
  for (const std::string_view element : {R"({"metric":{}})",     R"({"metric":[]})",
                                         R"({"value":{}})",      R"({"value":[1]})",
                                         R"({"tags":[]})",       R"({"tags":"a"})",
                                         R"({"tags":{"a":{}}})", R"({"tags":{"a":["b"]}})",
                                         R"({"tsuid":{}})",      R"({"x":tru})",
                                         R"({"x":01})",          R"({"x":"\q"})",
                                         R"({"x":[1,]})",        R"({"x":{"y":nul}})",
                                         R"({"x\q":1})",         R"({"x":"\u12"})",
                                         R"({"value":1 2})",     R"({"metric":"m":"n"})",
                                         R"({"metric":1:2})",    R"({"x":"m":"n"})",
                                         R"({"x":["m":"n"]})"}) {
    const auto sent = read(element);
    ASSERT_FALSE(sent) << element;
    EXPECT_EQ(sent.error().message, "Unable to parse the given JSON");
  }
}

TEST(SentPoint, LastOfARepeatedFieldCounts) {
  const auto sent = read(
      R"({"metric":"a","tags":{"x":"1"},"metric":"b","tags":{"y":"2","y":"3"},"m\u0065tric":"c"})");
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->metric, "c");
  EXPECT_EQ(sent->tags->to_string(), "{y=3}");
}

TEST(SentPoint, DepthIsLimited) {
  // The array of points is the first level, the point the second.
  const auto nested = [](std::size_t levels) {
    return R"({"x":)" + std::string(levels - 2, '[') + std::string(levels - 2, ']') + "}";
  };
  EXPECT_TRUE(read(nested(16)));
  const auto sent = read(nested(17));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().message, "Unable to parse the given JSON");
  EXPECT_THAT(sent.error().details, HasSubstr("16"));
  EXPECT_THAT(sent.error().details, HasSubstr("ingest.json_depth_max"));
  EXPECT_FALSE(read(nested(100'000)));
}

TEST(SentPoint, IsEchoedInOpenTsdbsOrder) {
  const auto echo = [](std::string_view element) { return echo_sent_point(*read(element)); };
  EXPECT_EQ(echo(R"({"tags":{"host":"a"},"value":1,"x":[1],"timestamp":1356998400,"metric":"m"})"),
            R"({"metric":"m","timestamp":1356998400,"value":"1","tags":{"host":"a"}})");
  EXPECT_EQ(echo("{}"), R"({"timestamp":0})");
  EXPECT_EQ(echo(R"({"metric":null,"value":null,"tags":null})"), R"({"timestamp":0})");
  EXPECT_EQ(echo(R"({"metric":"","tags":{}})"), R"({"metric":"","timestamp":0,"tags":{}})");
  EXPECT_EQ(echo(R"({"tags":{"z":null,"b":true},"tsuid":"01"})"),
            R"({"timestamp":0,"tags":{"b":"true","z":null},"tsuid":"01"})");
  EXPECT_EQ(echo(R"({"metric":"\u0001\"\\\/\b\f\n\r\té€\ud83d\ude00\ud83d"})"),
            R"({"metric":"\u0001\"\\/\b\f\n\r\té€\uD83D\uDE00\uD83D","timestamp":0})");
}

TEST(SentPoint, IsJudgedInOpenTsdbsOrderAndWords) {
  EXPECT_EQ(judged(kPoint), "");
  EXPECT_EQ(judged("{}"), "Metric name was empty");
  EXPECT_EQ(judged(R"({"metric":""})"), "Metric name was empty");
  EXPECT_EQ(judged(R"({"metric":"m"})"), "Invalid timestamp");
  EXPECT_EQ(judged(R"({"metric":"m","timestamp":-5})"), "Invalid timestamp");
  EXPECT_EQ(judged(R"({"metric":"m","timestamp":1})"), "Empty value");
  EXPECT_EQ(judged(R"({"metric":"m","timestamp":1,"value":""})"), "Empty value");
  EXPECT_EQ(judged(R"({"metric":"m","timestamp":1,"value":"x"})"), "Missing tags");
  EXPECT_EQ(judged(R"({"metric":"m","timestamp":1,"value":"x","tags":{}})"), "Missing tags");
  for (const std::string_view value :
       {"\"abc\"", "\"NaN\"", "NaN", "true", "\"9223372036854775808\"", "\" 1\"", "\"1e\""}) {
    EXPECT_EQ(judged(with_value(value)), "Unable to parse value to a number") << value;
  }
  EXPECT_EQ(judged(with_value("\" 1.5 \"")), "");
  EXPECT_EQ(judged(with_value("\"1e999\"")),
            "value is NaN or Infinite: Infinity for metric=m timestamp=1356998400");
  EXPECT_EQ(judged(with_timestamp("99999999999999")),
            "bad timestamp=99999999999999 when trying to add value=[1]/0 to metric=m, "
            "tags={host=a}");
  EXPECT_EQ(judged(R"({"metric":"m","timestamp":1,"value":1,"tags":{"host":null}})"),
            "Invalid tag value with key [host]: null");
  EXPECT_EQ(judged(R"({"metric":"m","timestamp":1,"value":1,"tags":{"host":""}})"),
            "Invalid tag value with key [host]: empty string");
  EXPECT_EQ(judged(R"({"metric":"m","timestamp":1,"value":1,"tags":{"":"a"}})"),
            "Invalid tag name with value [a]: empty string");
  EXPECT_EQ(judged(R"({"metric":"a b","timestamp":1,"value":1,"tags":{"host":"a"}})"),
            "Invalid metric name (\"a b\"): illegal character:  ");
  EXPECT_EQ(judged(R"({"metric":"m","timestamp":1,"value":1,"tags":{"host":"😀a"}})"),
            "Invalid tag value with key [host] (\"😀a\"): illegal character: \xED\xA0\xBD");
}

TEST(SentPoint, FloatsAreWide) {
  const PointRules rules({}, "");
  const auto point = validate_sent_point(*read(with_value("1.5")), rules);
  ASSERT_TRUE(point);
  EXPECT_EQ(point->flags, kFloat | kWide);
  const auto integer = validate_sent_point(*read(with_value("\"15\"")), rules);
  ASSERT_TRUE(integer);
  EXPECT_EQ(integer->flags, 0);
}

}  // namespace
}  // namespace halite::ingest
