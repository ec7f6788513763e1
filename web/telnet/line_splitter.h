// Splits a stream of bytes into lines in place, without copying.
//
//   char* to = splitter.space(most);       read into it
//   splitter.filled(count);
//   while (splitter.next(line)) ...        views live until the next call of space()
//
// A line longer than the maximum is dropped and reported once. The lines after it are unaffected.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace halite::web {

class LineSplitter {
 public:
  // line_bytes_max: without the line end. read_bytes: the largest space() to read into.
  LineSplitter(std::size_t line_bytes_max, std::size_t read_bytes);

  // A buffer to read into. It grows while reads fill it and shrinks otherwise.
  [[nodiscard]] std::span<char> space();
  void filled(std::size_t count);

  enum class Found : unsigned char { kNothing, kLine, kTooLong };
  // kLine: without "\n" or "\r\n". kTooLong: `line` has the first bytes, at most 64.
  [[nodiscard]] Found next(std::string_view& line);

  // The bytes that next() would split, for callers that find line ends themselves. Empty while an
  // oversized line is being dropped.
  [[nodiscard]] std::string_view ahead() const {
    if (dropping_ || scanned_ != begin_) return {};
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
  }
  // Consumes bytes of ahead(): whole lines including their ends.
  void took(std::size_t bytes) { begin_ = scanned_ = begin_ + bytes; }

  // Frees the buffer if no line is incomplete and reads do not fill it. Returns true if it did.
  bool release_if_idle();

  // The beginning of an incomplete line; empty while an oversized line is being dropped.
  [[nodiscard]] std::string_view unfinished_line() const {
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
  }
  // Bytes of an incomplete line.
  [[nodiscard]] std::size_t unfinished() const { return end_ - begin_ + (dropping_ ? 1 : 0); }

 private:
  std::size_t line_bytes_max_;
  std::size_t read_bytes_max_;
  std::size_t read_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of what next() has not returned
  std::size_t scanned_ = 0;  // no line end before this
  std::size_t end_ = 0;      // end of what was read
  bool dropping_ = false;    // inside an oversized line
  bool full_ = false;        // the last read filled the buffer
};

}  // namespace halite::web
