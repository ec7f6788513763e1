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
