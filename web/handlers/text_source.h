// The body of an answer whose text is made while it is sent.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "common/threads/task.h"
#include "web/http/http_message.h"

namespace halite::web {

class TextSource : public AsyncBodySource {
 public:
  // `what` is made, in the log line about an error: a literal.
  explicit TextSource(std::string_view what) : what_(what) {}

  // Makes text until there is some to send, or nothing more to come. Call it before the answer
  // begins, so that an early error still gets an answer of its own.
  virtual Task<void> read() = 0;

  Task<bool> next(std::string& to) final;

 protected:
  [[nodiscard]] bool is_sent() const { return sent_ == text_.size(); }
  void set_text(std::string text) {
    text_ = std::move(text);
    sent_ = 0;
  }
  [[nodiscard]] std::size_t text_bytes() const { return text_.size(); }

 private:
  const std::string_view what_;
  std::string text_;
  std::size_t sent_ = 0;  // bytes of it
};

}  // namespace halite::web
