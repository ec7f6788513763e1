// A plain blocking TCP client for tests. Every wait has an end; a failure is a text, not a hang.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halite::test {

class Client {
 public:
  explicit Client(std::uint16_t port, int receive_buffer_bytes = 0);  // 0 = the system's choice
  ~Client();
  Client(Client&& other) noexcept;
  Client& operator=(Client&&) = delete;

  // False when the server closed the connection.
  bool send(std::string_view bytes);
  void half_close();  // ends our half of the stream
  void reset();       // breaks the connection

  // Whatever comes within the time; nothing: the time is up. Empty text: the server closed.
  std::optional<std::string> receive(int timeout_ms);
  // Everything until the server closes, or the time is up.
  std::string receive_all(int timeout_ms);

 private:
  int fd_ = -1;
};

}  // namespace halite::test
