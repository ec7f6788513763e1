// Histograms, from text to the bytes that are to be stored.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "ingest/json/histogram_json.h"
#include "ingest/telnet/histogram_line.h"

namespace halite::ingest {
namespace {

class HistogramTest : public testing::Test {
 protected:
  [[nodiscard]] std::string reply(std::string_view line) const {
    const auto named = parse_histogram_line(line, rules_);
    if (named) return "";
    return named.error().text.empty() ? "silence"
                                      : telnet_refusal(named.error(), {.command = "histogram"});
  }
  [[nodiscard]] NamedHistogram taken(std::string_view line) const {
    const auto named = parse_histogram_line(line, rules_);
    EXPECT_TRUE(named) << named.error().text;
    return named.value_or(NamedHistogram{});
  }
  [[nodiscard]] std::string error_of(std::string_view element) const {
    auto sent = read_sent_histogram(element, 16);
    if (!sent) return sent.error().message;
    const auto named = validate_sent_histogram(*std::move(sent), rules_);
    return named ? "" : http_refusal(named.error());
  }
  [[nodiscard]] std::string stored(std::string_view element) const {
    auto sent = read_sent_histogram(element, 16);
    if (!sent) return sent.error().details;
    const auto named = validate_sent_histogram(*std::move(sent), rules_);
    return named ? to_hex(named->value) : named.error().text;
  }

  PointRules points_{{.tags_max = 8}, ""};
  HistogramRules rules_{points_, {.simple_id = 42}};
};

TEST_F(HistogramTest, ALineOfBucketsBecomesBytes) {
  const NamedHistogram histogram =
      taken("histogram h 1356998520 0,1.75=3:1.75,3.5=9:u=1:o=2 host=a");
  EXPECT_EQ(histogram.series, (SeriesName{.metric = "h", .tags = {{"host", "a"}}}));
  EXPECT_EQ(histogram.time, 1'356'998'520'000);
  EXPECT_FALSE(histogram.millis);
  EXPECT_EQ(to_hex(histogram.value), "2A0002000000003FE00000033FE0000040600000090102");
  EXPECT_TRUE(taken("histogram h 1356998521500 0,1=1 host=a").millis);
  EXPECT_EQ(to_hex(taken("histogram h 1 1,2=1:0,1=-1:0,1=+2 a=b").value),
            "2A0002000000003F800000023F80000040000000010000");
}

TEST_F(HistogramTest, ALineOfACodecIsWrittenAgain) {
  // 0001 00000000 3F800000 01 00 00, with a byte too many.
  EXPECT_EQ(to_hex(taken("histogram h 1 42 AAEAAAAAP4AAAAEAAAA= a=b").value),
            "2A0001000000003F800000010000");
}

TEST_F(HistogramTest, LinesAreRefusedInOpentsdbsWords) {
  const std::string illegal = "histogram: illegal argument: ";
  EXPECT_EQ(reply("histogram"), illegal + "not enough arguments (need least 5, got 0)\n");
  EXPECT_EQ(reply("histogram h 1 0,1=1"), illegal + "not enough arguments (need least 5, got 3)\n");
  EXPECT_EQ(reply("histogram  1 0,1=1 a=b"), illegal + "empty metric name\n");
  EXPECT_EQ(reply("histogram h x 0,1=1 a=b"),
            "histogram: invalid value: Invalid character 'x' in x\n");
  EXPECT_EQ(reply("histogram h 0 0,1=1 a=b"), illegal + "invalid timestamp: 0\n");
  EXPECT_EQ(reply("histogram h 1  a=b"), illegal + "empty histogram value\n");
  EXPECT_EQ(reply("histogram h 1 0,1=1 a"), illegal + "invalid tag: a\n");
}

TEST_F(HistogramTest, WhatOpentsdbFindsOutLateItCallsAnErrorOfStorage) {
  const std::string late = "histogram: storage error: ";
  EXPECT_EQ(reply("histogram h 1 1 host=a"), late + "No codec found mapped to ID 1\n");
  EXPECT_EQ(reply("histogram h 1 42 AAAA a=b"),
            late + "Byte array shorter than 6 bytes detected: [0, 0, 0]\n");
  EXPECT_EQ(reply("histogram h 1 42 KgABAAAAAD+AAAABAAA= a=b"), late + "Buffer underflow.\n");
  EXPECT_EQ(reply("histogram h{ 1 0,1=1 a=b"),
            late + "Invalid metric name (\"h{\"): illegal character: {\n");
  EXPECT_EQ(reply("histogram h 1 42 AAEAAAAAP4AAAAEAAAA="),
            late + "Need at least one tag (metric=h, tags={})\n");
  EXPECT_EQ(reply("histogram h 99999999999999 0,1=1 a=b"),
            late +
                "bad timestamp=99999999999999 when trying to add value=[42, 0, 1, 0, 0, 0, 0, "
                "63, -128, 0, 0, 1, 0, 0]/0 to metric=h, tags={a=b}\n");
}

TEST_F(HistogramTest, OfBadBucketsNobodyIsTold) {
  for (const std::string_view value : {"0,1=x", "0,1=1:z=4", "0,1", "=", ":", "0,1,2=3", "a,b=1",
                                       "0,1=1:", "0,1=9223372036854775808", "0,1=1=2", "0,=1"}) {
    EXPECT_EQ(reply(std::string("histogram h 1 ") + std::string(value) + " a=b"), "silence")
        << value;
  }
}

TEST_F(HistogramTest, ElementsOfBucketsBecomeBytes) {
  EXPECT_EQ(stored(R"({"metric":"h","timestamp":1,"tags":{"a":"b"},"buckets":{"0,1.75":12,)"
                   R"("1.75,3.5":"16"},"underflow":0,"overflow":null})"),
            "2A0002000000003FE000000C3FE0000040600000100000");
  EXPECT_EQ(stored(R"({"metric":"h","timestamp":1,"tags":{"a":"b"},"buckets":{"0,1":1,"0,1":null},)"
                   R"("value":""})"),
            "2A0001000000003F800000000000");
}

TEST_F(HistogramTest, ElementsAreRefusedInOpentsdbsWords) {
  const std::string head = R"({"metric":"h","timestamp":1,"tags":{"a":"b"})";
  const std::string no_buckets = "Histogram buckets cannot be null or empty if 'value' is empty.";
  EXPECT_EQ(error_of(head + "}"), no_buckets);
  EXPECT_EQ(error_of(head + R"(,"buckets":{}})"), no_buckets);
  EXPECT_EQ(error_of(head + R"(,"buckets":{"0-1":1}})"), "Unable to parse bucket bounds: 0-1");
  EXPECT_EQ(error_of(head + R"(,"buckets":{"a,b":1}})"), "Unable to parse value to a number");
  EXPECT_EQ(error_of(head + R"(,"buckets":{"0,1":true}})"), "Unable to parse the given JSON");
  EXPECT_EQ(error_of(head + R"(,"buckets":[1]})"), "Unable to parse the given JSON");
  EXPECT_EQ(error_of(head + R"(,"id":300,"value":"AAAA"})"),
            "Invalid type. Must be from 0 to 255.");
  EXPECT_EQ(error_of(head + R"(,"id":2147483648,"value":"AAAA"})"),
            "Unable to parse the given JSON");
  EXPECT_EQ(error_of(head + R"(,"id":7,"value":"AAAA"})"), "No codec found mapped to ID 7");
  EXPECT_EQ(error_of(head + R"(,"id":42,"value":"!!"})"),
            "Byte array shorter than 6 bytes detected: \"\"");
  EXPECT_EQ(error_of(head + R"(,"id":42,"value":"KgABAAAAAD+AAAABAAA="})"), "Unexpected exception");
  EXPECT_EQ(error_of(R"({"metric":"h","timestamp":0,"buckets":{"0,1":1}})"), "Invalid timestamp");
  EXPECT_EQ(error_of(R"({"metric":"h","timestamp":1,"buckets":{"0,1":1}})"), "Missing tags");
}

TEST_F(HistogramTest, ElementsAreShownAsTheyWereSent) {
  const auto sent = read_sent_histogram(
      R"({"metric":"h","timestamp":1,"buckets":{"0,1":null,"b":-1},"overflow":2})", 16);
  ASSERT_TRUE(sent);
  EXPECT_EQ(echo_sent_histogram(*sent),
            R"({"metric":"h","timestamp":1,"id":0,"buckets":{"0,1":null,"b":-1},"underflow":0,)"
            R"("overflow":2})");
}

TEST_F(HistogramTest, WithoutACodecThereAreNoSimpleHistograms) {
  const HistogramRules none(points_, {});
  const auto named = parse_histogram_line("histogram h 1 0,1=1 a=b", none);
  ASSERT_FALSE(named);
  EXPECT_EQ(telnet_refusal(named.error(), {.command = "histogram"}),
            "histogram: illegal argument: No codec ID assigned to class class "
            "net.opentsdb.core.SimpleHistogramDecoder\n");
}

}  // namespace
}  // namespace halite::ingest
