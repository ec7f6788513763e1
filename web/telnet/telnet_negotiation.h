// Telnet's option bytes at the start of a connection (RFC 854). A telnet client with an explicit
// port begins with "IAC WILL ..." before its user types anything.
//
// Parameters longer than kParametersMax are cut: the bytes that follow are lines again.
//
// Nothing is answered: a client that offers an option and gets no reply goes on without it. After
// the first byte of a line the filter is off, because such a byte may belong to a name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace halite::web {

class TelnetNegotiation {
 public:
  static constexpr std::size_t kParametersMax = 4096;  // bytes from IAC to IAC SE

  // How many of the next bytes are telnet's. Fewer than all: the negotiation is over.
  [[nodiscard]] std::size_t skip(std::string_view bytes);
  [[nodiscard]] bool over() const { return state_ == State::kOver; }

 private:
  enum class State : std::uint8_t {
    kBetween,     // sequences
    kCommand,     // after IAC
    kOption,      // after IAC WILL: the option byte follows
    kParameters,  // after IAC SB: until IAC SE
    kParameterCommand,
    kOver
  };
  [[nodiscard]] static State next(State state, unsigned char byte);

  State state_ = State::kBetween;
  std::size_t parameters_ = 0;  // bytes in the current sequence
};

}  // namespace halite::web
