#include "web/telnet/line_splitter.h"

#include <algorithm>
#include <cstring>

namespace halite::web {

namespace {

constexpr std::size_t kReadBytesMin = 4 << 10;
constexpr std::size_t kShownBytes = 64;

}  // namespace

LineSplitter::LineSplitter(std::size_t line_bytes_max, std::size_t read_bytes)
    : line_bytes_max_(line_bytes_max),
      read_bytes_max_(std::max<std::size_t>(read_bytes, 1)),
      read_bytes_(std::min(kReadBytesMin, read_bytes_max_)) {}

std::span<char> LineSplitter::space() {
  if (begin_ != 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    scanned_ -= begin_;
    begin_ = 0;
  }
  const std::size_t wanted = end_ + read_bytes_;
  if (buffer_.size() != wanted) {
    const bool much_too_large = buffer_.capacity() > 4 * wanted;
    buffer_.resize(wanted);
    if (much_too_large) buffer_.shrink_to_fit();
  }
  return {buffer_.data() + end_, read_bytes_};
}

void LineSplitter::filled(std::size_t count) {
  end_ += count;
  full_ = count == read_bytes_;
  if (full_) {
    read_bytes_ = std::min(2 * read_bytes_, read_bytes_max_);
  } else if (count < read_bytes_ / 8) {
    read_bytes_ = std::max(read_bytes_ / 2, std::min(kReadBytesMin, read_bytes_max_));
  }
}

bool LineSplitter::release_if_idle() {
  if (full_ || begin_ != end_) return false;
  buffer_ = std::string();
  begin_ = scanned_ = end_ = 0;
  return true;
}

LineSplitter::Found LineSplitter::next(std::string_view& line) {
  while (true) {
    const char* from = buffer_.data() + scanned_;
    const void* newline = end_ > scanned_ ? std::memchr(from, '\n', end_ - scanned_) : nullptr;
    if (newline == nullptr) {
      scanned_ = end_;
      if (dropping_) {
        begin_ = end_;
        return Found::kNothing;
      }
      // One more byte may be the '\r' of a line at the maximum.
      if (end_ - begin_ <= line_bytes_max_ + 1) return Found::kNothing;
      line = std::string_view(buffer_).substr(begin_, kShownBytes);
      dropping_ = true;
      begin_ = end_;
      return Found::kTooLong;
    }
    const auto at = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data());
    const std::size_t line_begin = begin_;
    begin_ = scanned_ = at + 1;
    if (dropping_) {
      dropping_ = false;
      continue;
    }
    line = std::string_view(buffer_).substr(line_begin, at - line_begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() <= line_bytes_max_) return Found::kLine;
    line = line.substr(0, kShownBytes);
    return Found::kTooLong;
  }
}

}  // namespace halite::web
