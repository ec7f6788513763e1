#include "ingest/graphite/pickle.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/bytes/ascii.h"
#include "ingest/import/series_points.h"

namespace halite::ingest {
namespace {

using testing::ElementsAre;
using namespace std::string_literals;

std::string from_hex(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(hex_digit(hex[i]) * 16 + hex_digit(hex[i + 1]));
  }
  return bytes;
}

// What a body says, a line each.
class Said final : public PointReceiver {
 public:
  explicit Said(const PickleBody& body) : body_(body) {}
  void part(std::uint32_t number) override { part_ = number; }
  void series(const SeriesKey& key) override {
    const auto name = body_.series_name(key);
    series_ = name ? text_of(*name) : "refused: " + name.error().text;
  }
  void point(PointBits point) override {
    lines.push_back(
        fmt::format("{}: {} {} {}", part_, series_, point.time, as_double(point.value)));
  }
  void refuse(std::string reason) override {
    lines.push_back(fmt::format("{}: refused: {}", part_, reason));
  }

  std::vector<std::string> lines;

 private:
  const PickleBody& body_;
  std::uint32_t part_ = 0;
  std::string series_;
};

using Lines = std::vector<std::string>;

Lines read(std::string_view message, const PickleLimits& limits = {},
           const FormatOptions& options = {}) {
  PickleBody body(message, options, {}, limits);
  Said said(body);
  if (const auto done = body.read(said); !done) {
    EXPECT_EQ(done.error().code, Errc::kInvalidArgument);
    EXPECT_EQ(said.lines, Lines()) << "nothing is passed on before an error";
    return {done.error().message};
  }
  return said.lines;
}

// A list with one entry, whose path, time and value are pickled so.
Lines read_entry(std::string_view path, std::string_view time, std::string_view value,
                 const FormatOptions& options = {}) {
  std::string message = "]";
  message.append(path).append(time).append(value).append(
      "\x86\x86"
      "a.");
  return read(message, {}, options);
}

constexpr std::string_view kPath =
    "U\x03"
    "a.b";
constexpr std::string_view kTime = "I1700000000\n";
constexpr std::string_view kOne = "K\x01";

// [("a.b", (1700000000, 1.5))], by Python 3.
TEST(Pickle, OfEveryProtocol) {
  for (const std::string_view hex :
       {"286c70300a2856612e620a70310a2849313730303030303030300a46312e350a7470320a7470330a612e",
        "5d7100285803000000612e627101284a00f15365473ff8000000000000747102747103612e",
        "80025d71005803000000612e6271014a00f15365473ff8000000000000867102867103612e",
        "80035d71005803000000612e6271014a00f15365473ff8000000000000867102867103612e",
        "8004951c000000000000005d948c03612e62944a00f15365473ff800000000000086948694612e",
        "8005951c000000000000005d948c03612e62944a00f15365473ff800000000000086948694612e"}) {
    EXPECT_THAT(read(from_hex(hex)), ElementsAre("1: a.b 1700000000000 1.5")) << hex;
  }
}

TEST(Pickle, NumbersAsTexts) {
  // [("a.b", ("1700000000", "1.5"))]
  EXPECT_THAT(read(from_hex("80025d71005803000000612e627101580a000000313730303030303030307102"
                            "5803000000312e357103867104867105612e")),
              ElementsAre("1: a.b 1700000000000 1.5"));
  EXPECT_THAT(read_entry(kPath, "S'1700000000.25'\n", "C\x03inf"),
              ElementsAre("1: a.b 1700000000250 inf"));
  EXPECT_THAT(read_entry(kPath, kTime, "U\x01x"), ElementsAre("1: refused: \"x\" is no value"));
  EXPECT_THAT(read_entry(kPath, "U\x01x", kOne), ElementsAre("1: refused: \"x\" is not a time"));
}

TEST(Pickle, Numbers) {
  const auto value = [](std::string_view pickled) {
    const Lines said = read_entry(kPath, kTime, pickled);
    EXPECT_EQ(said.size(), 1U);
    return said.at(0).substr(said.at(0).find(pickled.empty() ? "" : ": ") + 2);
  };
  const auto taken = [](std::string_view text) {
    return fmt::format("a.b 1700000000000 {}", text);
  };
  EXPECT_EQ(value("I-42\n"), taken("-42"));
  EXPECT_EQ(value("I01\n"), taken("1"));
  EXPECT_EQ(value("I00\n"), taken("0"));
  EXPECT_EQ(value("\x88"), taken("1"));
  EXPECT_EQ(value("\x89"), taken("0"));
  EXPECT_EQ(value("L9223372036854775808L\n"), taken("9.223372036854776e+18"));
  EXPECT_EQ(value("J\xFF\xFF\xFF\xFF"), taken("-1"));
  EXPECT_EQ(value("M\x01\x02"), taken("513"));
  EXPECT_EQ(value("\x8a\x01\xFF"), taken("-1"));
  EXPECT_EQ(value("\x8a\x00"s), taken("0"));
  EXPECT_EQ(value("\x8a\x09\0\0\0\0\0\0\0\x80\0"s), taken("9.223372036854776e+18"));
  EXPECT_EQ(value("\x8b\x02\0\0\0\0\x01"s), taken("256"));
  EXPECT_EQ(
      value("\x8a\x12\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
      taken("-2"))
      << "more bytes than it needs";
  EXPECT_EQ(value("\x8a\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01"s),
            "refused: the value has more than 128 bits");
  EXPECT_EQ(value("\x8a\x11\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x80\0"s),
            "refused: the value has more than 128 bits");
  EXPECT_EQ(value("F-1e-5\n"), taken("-1e-05"));
  EXPECT_EQ(value("Finf\n"), taken("inf"));
  EXPECT_EQ(value("Fnan\n"), "refused: NaN is no value in Graphite");
  EXPECT_EQ(value("G\x7F\xF8\0\0\0\0\0\0"s), "refused: NaN is no value in Graphite");
  EXPECT_EQ(value("N"), "refused: the value is not a number");
  EXPECT_EQ(value("]"), "refused: the value is not a number");
}

TEST(Pickle, Times) {
  const auto time = [](std::string_view pickled, const FormatOptions& options = {}) {
    return read_entry(kPath, pickled, kOne, options).at(0);
  };
  FormatOptions arrival;
  arrival.default_time = 1'700'000'000'123;
  EXPECT_EQ(time("F1700000000.25\n"), "1: a.b 1700000000250 1");
  EXPECT_EQ(time("F1700000000.9999\n"), "1: a.b 1700000000999 1");
  EXPECT_EQ(time("I-1\n", arrival), "1: a.b 1700000000123 1");
  EXPECT_EQ(time("F-1.5\n", arrival), "1: a.b 1700000000123 1");
  EXPECT_EQ(time("U\x01N", arrival), "1: a.b 1700000000123 1");
  EXPECT_EQ(time("I-1\n"),
            "1: refused: the time -1 stands for the time of arrival, which is not known here");
  EXPECT_EQ(time("I-2\n"), "1: refused: the time -2 is before 1970");
  EXPECT_EQ(time("L1700000000000L\n"),
            "1: refused: the time 1700000000000 looks like milliseconds, it has to be in seconds");
  EXPECT_EQ(time("Fnan\n"), "1: refused: nan is not a time");
  EXPECT_EQ(time("F1e300\n"), "1: refused: 1e+300 is not a time");
}

TEST(Pickle, Texts) {
  const auto path = [](std::string_view pickled) { return read_entry(pickled, kTime, kOne).at(0); };
  EXPECT_EQ(path("U\x03"
                 "a b"),
            "1: a b 1700000000000 1");
  EXPECT_EQ(path("T\x01\0\0\0x"s), "1: x 1700000000000 1");
  EXPECT_EQ(path("B\x01\0\0\0x"s), "1: x 1700000000000 1");
  EXPECT_EQ(path("C\x01x"), "1: x 1700000000000 1");
  EXPECT_EQ(path("\x8d\x01\0\0\0\0\0\0\0x"s), "1: x 1700000000000 1");
  EXPECT_EQ(path("\x8c\x07"
                 "x;k=v=w"),
            "1: x k=v=w 1700000000000 1");
  EXPECT_EQ(path("S'a\\x62\\'\\\\'\n"), "1: ab'\\ 1700000000000 1");
  EXPECT_EQ(path("S\"a'\"\n"), "1: a' 1700000000000 1");
  EXPECT_EQ(path("Va\\u00e9\xE9\\d\n"), "1: a\xC3\xA9\xC3\xA9\\d 1700000000000 1");
  EXPECT_EQ(path("V\\U0001F600\n"), "1: \xF0\x9F\x98\x80 1700000000000 1");
  EXPECT_EQ(path("U\x01\xFF"), "1: refused: a metric is not UTF-8 1700000000000 1");
  EXPECT_EQ(path("U\x02x;"), "1: refused: the path ends with ';', without a tag");
  EXPECT_EQ(path("S'a\n"), "byte 1 of the pickle: a text without its quotes");
  EXPECT_EQ(path("S'\\q'\n"), "byte 1 of the pickle: a text with a wrong escape");
  EXPECT_EQ(path("V\\u00g0\n"), "byte 1 of the pickle: a text with a wrong escape");
  EXPECT_EQ(path("V\\ud800\n"), "byte 1 of the pickle: a text with a wrong escape");
}

TEST(Pickle, PairsMayBeListsAndBadEntriesAreSkipped) {
  // [["a", [1700000000, 1]], 5, ("b",), ("c", (1, 2, 3)), (1, (1, 2)), ("d", (1700000000, 2))]
  EXPECT_THAT(read("(](U\x01"
                   "a]I1700000000\naK\x01"
                   "al"
                   "a"
                   "K\x05"
                   "a"
                   "U\x01"
                   "b\x85"
                   "a"
                   "U\x01"
                   "cK\x01K\x02K\x03\x87\x86"
                   "a"
                   "K\x01K\x01K\x02\x86\x86"
                   "a"
                   "U\x01"
                   "dI1700000000\nK\x02\x86\x86"
                   "a1."s),
              ElementsAre("byte 75 of the pickle: it leaves 0 objects instead of one"));
  EXPECT_THAT(
      read("](U\x01"
           "a]I1700000000\naK\x01"
           "al"
           "a"
           "K\x05"
           "a"
           "U\x01"
           "b\x85"
           "a"
           "U\x01"
           "cK\x01K\x02K\x03\x87\x86"
           "a"
           "K\x01K\x01K\x02\x86\x86"
           "a"
           "U\x01"
           "dI1700000000\nK\x02\x86\x86"
           "a."s),
      ElementsAre("1: a 1700000000000 1", "2: refused: an entry is not (path, (time, value))",
                  "3: refused: an entry is not (path, (time, value))",
                  "4: refused: an entry is not (path, (time, value))",
                  "5: refused: an entry is not (path, (time, value))", "6: d 1700000000000 2"));
  EXPECT_THAT(read("]."), ElementsAre());
  EXPECT_THAT(read(")."), ElementsAre()) << "a tuple of entries is as good";
}

TEST(Pickle, MemoAndStack) {
  EXPECT_THAT(
      read("]p5\n0g5\n("s + std::string(kPath) + "q\x01" + std::string(kTime) +
           "K\x01\x86r\x02\0\0\0\x86"s + "h\x01j\x02\0\0\0\x86"s + "2e."s),
      ElementsAre("1: a.b 1700000000000 1", "2: a.b 1700000000000 1", "3: a.b 1700000000000 1"));
  EXPECT_THAT(read("]\x94(((01g0\n0."), ElementsAre("byte 11 of the pickle: it leaves 1 objects "
                                                    "instead of one"))
      << "a mark stays";
  EXPECT_THAT(read("h\x07."), ElementsAre("byte 0 of the pickle: nothing has the number 7 in the "
                                          "memo"));
  EXPECT_THAT(read("]q\x07h\x06."), ElementsAre("byte 3 of the pickle: nothing has the number 6 in "
                                                "the memo"));
  EXPECT_THAT(read("gx\n."), ElementsAre("byte 0 of the pickle: a wrong number"));
  for (const std::string under : {"0", "2", "q\x01", "\x86", "K\x01\x86",
                                  "K\x01"
                                  "a",
                                  "(K\x01"
                                  "a"}) {
    EXPECT_TRUE(read(std::string(under) + ".").at(0).ends_with("the stack has too few objects"))
        << under;
  }
  for (const std::string_view marks : {"t", "l", "e", "1", "(1t"}) {
    EXPECT_TRUE(read(std::string(marks) + ".").at(0).ends_with("the stack has no mark")) << marks;
  }
  EXPECT_THAT(read("K\x01K\x02"
                   "a."),
              ElementsAre("byte 4 of the pickle: only lists are appended to"));
  EXPECT_THAT(read(")K\x02"
                   "a."),
              ElementsAre("byte 3 of the pickle: only lists are appended to"));
  EXPECT_THAT(read("]2a."), ElementsAre("1: refused: an entry is not (path, (time, value))"))
      << "a list within itself";
}

TEST(Pickle, OtherOpcodesAreErrors) {
  for (const std::string_view program : {"cos\nsystem\n",
                                         "K\x01R",
                                         "(ios\nsystem\n",
                                         "(o",
                                         "b",
                                         "K\x01Q",
                                         "Px\n",
                                         "}",
                                         "d",
                                         "s",
                                         "u",
                                         "\x81",
                                         "\x82\x01",
                                         "\x83\x01\x01",
                                         "\x84\x01\x01\x01\x01",
                                         "\x8e",
                                         "\x8f",
                                         "\x90",
                                         "\x91",
                                         "\x92",
                                         "\x93",
                                         "\x96",
                                         "\x97",
                                         "\x98",
                                         "x",
                                         "\x7F"}) {
    EXPECT_TRUE(read("]" + std::string(program) + ".")
                    .at(0)
                    .ends_with("only numbers, texts, lists and tuples are read"))
        << program;
  }
  EXPECT_THAT(read("cos\nsystem\n(S'true'\ntR."),
              ElementsAre("byte 0 of the pickle: the opcode 0x63: only numbers, texts, lists and "
                          "tuples are read"));
}

TEST(Pickle, BrokenMessages) {
  EXPECT_THAT(read(""), ElementsAre("byte 0 of the pickle: it ends without STOP"));
  EXPECT_THAT(read("]"), ElementsAre("byte 1 of the pickle: it ends without STOP"));
  EXPECT_THAT(read("]K"), ElementsAre("byte 1 of the pickle: it is cut off"));
  EXPECT_THAT(read("]I12"), ElementsAre("byte 1 of the pickle: it is cut off"));
  EXPECT_THAT(read("X\xFF\xFF\xFF\xFFx."), ElementsAre("byte 0 of the pickle: it is cut off"));
  EXPECT_THAT(read("\x8d\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFx."),
              ElementsAre("byte 0 of the pickle: it is cut off"));
  EXPECT_THAT(read("\x8b\xFF\xFF\xFF\xFFx."), ElementsAre("byte 0 of the pickle: it is cut off"));
  EXPECT_THAT(read("\x80\x06]."),
              ElementsAre("byte 0 of the pickle: protocol 6 is not known, at most 5"));
  EXPECT_THAT(read("\x95\x03\0\0\0\0\0\0\0]."s),
              ElementsAre("byte 0 of the pickle: a frame that is longer than the pickle"));
  EXPECT_THAT(read("].]"), ElementsAre("byte 1 of the pickle: something follows the end"));
  EXPECT_THAT(read("."), ElementsAre("byte 0 of the pickle: it leaves 0 objects instead of one"));
  EXPECT_THAT(read("K\x01."), ElementsAre("the pickle is not a list of points"));
}

TEST(Pickle, Limits) {
  const PickleLimits limits{.stack_max = 3, .memo_max = 2, .items_max = 4, .depth_max = 2};
  EXPECT_THAT(read("(K\x01K\x01K\x01t.", limits),
              ElementsAre("1: refused: an entry is not (path, (time, value))",
                          "2: refused: an entry is not (path, (time, value))",
                          "3: refused: an entry is not (path, (time, value))"));
  EXPECT_THAT(read("(NNNNt.", limits),
              ElementsAre("byte 4 of the pickle: more than 3 objects on the stack"));
  EXPECT_THAT(read("((((", limits), ElementsAre("byte 3 of the pickle: more than 3 marks"));
  EXPECT_THAT(read("]q\x01.", limits), ElementsAre());
  EXPECT_THAT(read("]q\x02.", limits),
              ElementsAre("byte 1 of the pickle: the number 2 in the memo, at most 2 are allowed"));
  EXPECT_EQ(read("]NaNaNaNa.", limits).size(), 4U);
  EXPECT_THAT(read("]NaNaNaNaNa.", limits),
              ElementsAre("byte 10 of the pickle: more than 4 items of lists and tuples"));
  EXPECT_THAT(read("]0]0]0]0]0", limits),
              ElementsAre("byte 8 of the pickle: more than 4 lists and tuples"));
  EXPECT_EQ(read("]]a.", limits).size(), 1U);
  EXPECT_THAT(read("]]]aa.", limits), ElementsAre("byte 4 of the pickle: more than 2 lists and "
                                                  "tuples within each other"));
  EXPECT_TRUE(read("]q\0p18446744073709551616\n."s).at(0).ends_with("a wrong number"));
}

TEST(Pickle, ThousandsOfPoints) {
  std::string program = "\x80\x02](";
  for (int i = 0; i < 5'000; ++i) {
    program += fmt::format("U\x05{:05}I{}\nK\x01\x86\x86", i, 1'700'000'000 + i);
  }
  const Lines said = read(program + "e.");
  ASSERT_EQ(said.size(), 5'000U);
  EXPECT_EQ(said.back(), "5000: 04999 1700004999000 1");
}

TEST(Pickle, SharedPathsCountEachTime) {
  const std::string path(512 << 10, 'p');
  const auto program = [&path](std::size_t entries) {
    std::string all =
        "\x80\x02](X"s + std::string("\0\0\x08\0", 4) + path + "q\x01K\x01K\x01\x86\x86";
    for (std::size_t i = 1; i < entries; ++i) all += "h\x01K\x01K\x01\x86\x86";
    return all + "e.";
  };
  const std::size_t most = kPathBytesMax / path.size();
  const Lines said = read(program(most + 1));
  ASSERT_EQ(said.size(), most + 1);
  EXPECT_THAT(said[most - 1], testing::HasSubstr("a metric has 524288 bytes"));
  EXPECT_EQ(
      said[most],
      "33: refused: the paths of this entry and those before it have more than 16777216 bytes");
}

TEST(Pickle, Templates) {
  FormatOptions options;
  options.graphite_templates = std::make_shared<const GraphiteTemplates>(
      GraphiteTemplates::parse("host.measurement").value());
  EXPECT_THAT(read_entry("U\x06"
                         "x.load",
                         kTime, kOne, options),
              ElementsAre("1: load host=x 1700000000000 1"));
}

}  // namespace
}  // namespace halite::ingest
