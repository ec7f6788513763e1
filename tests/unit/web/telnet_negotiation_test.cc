#include "web/telnet/telnet_negotiation.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace halite::web {
namespace {

using namespace std::string_view_literals;

// What is left of the bytes when they come `step` at a time.
std::string left_of(std::string_view bytes, std::size_t step) {
  TelnetNegotiation negotiation;
  std::string left;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, step);
    bytes.remove_prefix(piece.size());
    left += piece.substr(negotiation.over() ? 0 : negotiation.skip(piece));
  }
  return left;
}

TEST(TelnetNegotiation, IsSkippedHoweverItIsCut) {
  constexpr std::string_view kPutty =
      "\xFF\xFB\x1F\xFF\xFB\x20\xFF\xFB\x18\xFF\xFB\x27\xFF\xFD\x01\xFF\xFB\x03\xFF\xFD\x03"sv;
  constexpr std::string_view kWindowOfTenLines = "\xFF\xFA\x1F\x00\x50\x00\n\xFF\xF0"sv;
  constexpr std::string_view kParameterFf = "\xFF\xFA\x1F\xFF\xFF\x00\x0A\xFF\xF0"sv;
  constexpr std::string_view kNothing = "\xFF\xF1"sv;
  for (const std::string_view first : {kPutty, kWindowOfTenLines, kParameterFf, kNothing, ""sv}) {
    for (std::size_t step = 1; step <= 64; ++step) {
      EXPECT_EQ(left_of(std::string(first) + "put m 1\n", step), "put m 1\n") << step;
    }
  }
}

TEST(TelnetNegotiation, IsOverAtTheFirstByteOfALine) {
  EXPECT_EQ(left_of("put\n\xFF\xFB\x1F", 64), "put\n\xFF\xFB\x1F");
  EXPECT_EQ(left_of("\n\xFF\xFB\x1F", 1), "\n\xFF\xFB\x1F");
}

TEST(TelnetNegotiation, TwiceIacIsAByteOfTheLine) {
  for (const std::size_t step : {1U, 64U}) {
    EXPECT_EQ(left_of("\xFF\xFFm\n", step), "\xFFm\n");
    EXPECT_EQ(left_of("\xFFput\n", step), "put\n");
  }
}

TEST(TelnetNegotiation, ParametersWithoutAnEndHaveALimit) {
  constexpr std::size_t kLimit = TelnetNegotiation::kParametersMax;
  const std::string most = "\xFF\xFA" + std::string(kLimit - 4, 'x');
  for (const std::size_t step : {1U, 100U, 10'000U}) {
    EXPECT_EQ(left_of(most + "\xFF\xF0put\n", step), "put\n");
    EXPECT_EQ(left_of(most + "xxxx\nput\n", step), "xx\nput\n");
    EXPECT_EQ(left_of("\xFF\xFA" + std::string(kLimit, '\xFF') + "\nput\n", step),
              "\xFF\xFF\nput\n");
  }
}

}  // namespace
}  // namespace halite::web
