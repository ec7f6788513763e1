#include "web/telnet/telnet_negotiation.h"

namespace halite::web {

namespace {

constexpr unsigned char kEndOfParameters = 0xF0;    // SE
constexpr unsigned char kBeginOfParameters = 0xFA;  // SB
constexpr unsigned char kWill = 0xFB;               // then WONT, DO, DONT
constexpr unsigned char kInterpretAsCommand = 0xFF;

}  // namespace

TelnetNegotiation::State TelnetNegotiation::next(State state, unsigned char byte) {
  switch (state) {
    case State::kBetween:
      return byte == kInterpretAsCommand ? State::kCommand : State::kOver;
    case State::kCommand:
      // Two IAC bytes stand for the byte FF of a line; the first of the two is dropped too.
      if (byte == kInterpretAsCommand || byte < kEndOfParameters) return State::kOver;
      if (byte == kBeginOfParameters) return State::kParameters;
      return byte >= kWill ? State::kOption : State::kBetween;
    case State::kOption:
      return State::kBetween;
    case State::kParameters:
      return byte == kInterpretAsCommand ? State::kParameterCommand : State::kParameters;
    case State::kParameterCommand:
      return byte == kEndOfParameters ? State::kBetween : State::kParameters;
    case State::kOver:
      return State::kOver;
  }
  return State::kOver;
}

std::size_t TelnetNegotiation::skip(std::string_view bytes) {
  std::size_t taken = 0;
  for (const char byte : bytes) {
    state_ = next(state_, static_cast<unsigned char>(byte));
    parameters_ = state_ == State::kBetween ? 0 : parameters_ + 1;
    if (parameters_ > kParametersMax) state_ = State::kOver;
    if (state_ == State::kOver) break;
    ++taken;
  }
  return taken;
}

}  // namespace halite::web
