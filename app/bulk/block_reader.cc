#include "app/bulk/block_reader.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace halite::app {
Result<std::unique_ptr<BlockReader>> BlockReader::open(std::vector<std::string> files,
                                                       InputPosition from) {
  std::unique_ptr<BlockReader> reader(new BlockReader(std::move(files)));
  bool known = true;
  for (const std::string& file : reader->files_) {
    std::error_code error;
    if (file == "-" || !std::filesystem::is_regular_file(file, error)) {
      known = false;
    } else {
      TRY(const auto opens, TextInput::open(file));  // so that a missing file is found at once
      static_cast<void>(opens);
      reader->bytes_total_ += file_bytes(file);
    }
  }
  if (!known) reader->bytes_total_ = 0;
  TRY_VOID(reader->skip_to(from));
  return reader;
}

Result<void> BlockReader::open_file() {
  TRY(input_, TextInput::open(files_[at_.file]));
  first_line_.clear();
  return {};
}

void BlockReader::end_file() {
  bytes_before_ += input_->bytes_read();
  input_.reset();
  rest_.clear();
  at_ = {.file = at_.file + 1};
}

// Reads more text. False at the end of the file.
Result<bool> BlockReader::fill() {
  const std::size_t before = rest_.size();
  Result<std::size_t> got;
  rest_.resize_and_overwrite(before + kBlockBytes, [&](char* text, std::size_t) {
    got = input_->read({text + before, kBlockBytes});
    return before + got.value_or(0);
  });
  TRY_VOID(got);
  return *got > 0;
}

Result<std::string_view> BlockReader::peek() {
  const std::scoped_lock lock(mutex_);
  if (at_.file == files_.size()) return std::string_view();
  if (!input_) TRY_VOID(open_file());
  for (bool more = true; more && !rest_.contains('\n') && rest_.size() < kBlockBytes;) {
    TRY(more, fill());
  }
  return rest_;
}

Result<void> BlockReader::skip_to(const InputPosition& from) {
  for (; at_.file < from.file; ++at_.file) bytes_before_ += file_bytes(files_[at_.file]);
  if (from.offset == 0) return {};
  TRY_VOID(open_file());
  std::uint64_t left = from.offset;
  while (left > 0) {
    TRY(const bool more, fill());
    if (!more) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("{} is shorter than when the import was interrupted: it changed",
                              files_[at_.file]));
    }
    if (left == from.offset) first_line_ = rest_.substr(0, rest_.find('\n'));
    const std::size_t skipped = std::min<std::uint64_t>(left, rest_.size());
    rest_.erase(0, skipped);
    left -= skipped;
  }
  at_ = from;
  return {};
}

std::uint64_t BlockReader::bytes_read() const {
  const std::scoped_lock lock(mutex_);
  return bytes_before_ + (input_ ? input_->bytes_read() : 0);
}

// Drops the rest of a line that is too long.
Result<void> BlockReader::skip_rest_of_line() {
  while (true) {
    const std::size_t end = rest_.find('\n');
    const std::size_t dropped = end == std::string::npos ? rest_.size() : end + 1;
    at_.offset += dropped;
    rest_.erase(0, dropped);
    if (end != std::string::npos) return {};
    TRY(const bool more, fill());
    if (!more) return {};
  }
}

Result<std::optional<TextBlock>> BlockReader::next() {
  const std::scoped_lock lock(mutex_);
  while (at_.file < files_.size()) {
    if (!input_) TRY_VOID(open_file());
    bool more = true;
    std::size_t end = 0;  // of the last whole line
    // Reads on after a whole block, to see whether the file ends.
    while (more && (rest_.size() <= kBlockBytes || (end == 0 && rest_.size() <= kLineBytesMax))) {
      const std::size_t before = rest_.size();
      TRY(more, fill());
      const std::size_t feed = std::string_view(rest_).substr(before).rfind('\n');
      if (feed != std::string_view::npos) end = before + feed + 1;
    }
    if (!more) end = rest_.size();
    if (end == 0 && rest_.empty()) {
      end_file();
      continue;
    }
    TextBlock block{.number = blocks_++, .begin = at_, .first_line = first_line_, .ends = !more};
    if (end == 0) {
      block.too_long = true;
      block.text = rest_.substr(0, kBlockBytes);
      TRY_VOID(skip_rest_of_line());
    } else {
      std::string left = rest_.substr(end);
      rest_.resize(end);
      block.text = std::exchange(rest_, std::move(left));
      at_.offset += end;
    }
    if (block.begin.offset == 0) {
      first_line_ = block.text.substr(0, std::min(block.text.find('\n'), kBlockBytes));
    }
    block.end = at_;
    return block;
  }
  return std::nullopt;
}

}  // namespace halite::app
