// Cuts a stream of bytes into lines, in place: no line is copied.
//
//   char* to = splitter.space(most);       read into it
//   splitter.filled(count);
//   while (splitter.next(line)) ...        views live until the next call of space()
//
// A line longer than the maximum is dropped whole and reported once; the lines after it are not
// touched.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace halite::web {

class LineSplitter {
 public:
  // line_bytes_max: without the line's end. read_bytes: the largest space() to read into.
  LineSplitter(std::size_t line_bytes_max, std::size_t read_bytes);

  // Room to read into; it grows while reads fill it and shrinks when they do not.
  [[nodiscard]] std::span<char> space();
  void filled(std::size_t count);

  enum class Found : unsigned char { kNothing, kLine, kTooLong };
  // kLine: without "\n" or "\r\n". kTooLong: `line` is the beginning of it, at most 64 bytes.
  [[nodiscard]] Found next(std::string_view& line);

  // What next() would cut into lines, for those who find the ends themselves; empty while a line
  // that is too long is being dropped.
  [[nodiscard]] std::string_view ahead() const {
    if (dropping_ || scanned_ != begin_) return {};
    return std::string_view(buffer_).substr(begin_, end_ - begin_);
  }
  // So much of it has been taken: whole lines, their ends too.
  void took(std::size_t bytes) { begin_ = scanned_ = begin_ + bytes; }

  // Gives the memory back, when no line is unfinished and reads do not fill it. True: it did.
  bool release_if_idle();

  // Bytes of a line that has not ended.
  [[nodiscard]] std::size_t unfinished() const { return end_ - begin_ + (dropping_ ? 1 : 0); }

 private:
  std::size_t line_bytes_max_;
  std::size_t read_bytes_max_;
  std::size_t read_bytes_;
  std::string buffer_;
  std::size_t begin_ = 0;    // of what was not given out
  std::size_t scanned_ = 0;  // no line end before this
  std::size_t end_ = 0;      // of what was read
  bool dropping_ = false;    // inside a line that is too long
  bool full_ = false;        // the last read filled what it had
};

}  // namespace halite::web
