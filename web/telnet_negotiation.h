// Telnet's own bytes at the start of a connection (RFC 854): a telnet client that is told a port of
// its own begins with "IAC WILL ..." before its user types anything.
//
// Parameters longer than kParametersMax have lost their end: what follows is lines again.
//
// Nothing is answered: who offers an option and hears nothing goes on without it. Behind the first
// byte of a line no more is looked for, as then it may be a byte of a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halite::web {

class TelnetNegotiation {
 public:
  static constexpr std::size_t kParametersMax = 4096;  // bytes from IAC to IAC SE

  // How many of the next bytes are telnet's own, from the first on. Fewer than all: it is over.
  [[nodiscard]] std::size_t skip(std::string_view bytes);
  [[nodiscard]] bool over() const { return state_ == State::kOver; }

 private:
  enum class State : std::uint8_t {
    kBetween,     // of two sequences
    kCommand,     // IAC has come
    kOption,      // IAC WILL: one byte tells of what
    kParameters,  // IAC SB: until IAC SE
    kParameterCommand,
    kOver
  };
  [[nodiscard]] static State next(State state, unsigned char byte);

  State state_ = State::kBetween;
  std::size_t parameters_ = 0;  // bytes of the sequence that has begun
};

}  // namespace halite::web
