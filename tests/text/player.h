// Plays a conversation against a server and compares every byte that comes back.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/client.h"
#include "tests/support/test_server.h"
#include "tests/text/conversation.h"

namespace halite::test {

class Player {
 public:
  // With `update`, expectations that do not hold are replaced by what came.
  Player(const Conversation& conversation, bool update);

  // The first thing that went wrong, with its line; empty when all is as it should be.
  std::string play();

  // The file as it should stand (with `update`).
  [[nodiscard]] const std::string& rewritten() const { return rewritten_; }

 private:
  std::string act(const Step& step);
  void queue_send(std::size_t index);
  [[nodiscard]] std::size_t body_bytes_after(std::size_t index) const;
  std::string flush_sends();

  std::string check_group(const std::vector<const Step*>& group);
  void rewrite_group(const std::vector<const Step*>& group, const std::string& data);
  std::string expect(const Step& step);
  std::string expect_exactly(const Step& step, const std::string& wanted);
  std::string expect_like(const Step& step);
  std::string expect_gzip(const Step& step);
  std::string expect_chunks(const Step& step);
  bool read_more(int timeout_ms);  // false: nothing more comes
  std::string receive_until_quiet();
  std::string wrong(const Step& step, const std::string& what);

  const Conversation& conversation_;
  bool update_;
  std::string eol_;
  TestServer server_;
  std::optional<Client> client_;
  std::string to_send_;
  std::size_t split_ = 0;  // 0 = all at once
  std::string have_;       // came, not yet expected
  std::string rewritten_;
};

}  // namespace halite::test
