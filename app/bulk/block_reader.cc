#include "app/bulk/block_reader.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "ingest/formats/lines.h"

namespace halite::app {
namespace {

using ingest::without_mark;

// Finds a missing file before anything is read. True for a regular file.
Result<bool> check_input(const std::string& file) {
  if (file == "-") return false;
  std::error_code error;
  const auto type = std::filesystem::status(file, error).type();
  if (type == std::filesystem::file_type::directory) {
    return fail(Errc::kInvalidArgument, fmt::format("{} is a directory, not a file", file));
  }
  const bool regular = type == std::filesystem::file_type::regular;
  // Others, such as pipes, can be opened only once.
  if (regular || error) {
    const auto opens = TextInput::open(file);
    if (!opens) return std::unexpected(opens.error());
  }
  return regular;
}

// The end of the last line behind which there is more text; 0: there is none from `from` on.
std::size_t lines_end(std::string_view text, std::size_t from) {
  if (text.size() < from + 2) return 0;
  const std::size_t feed = text.substr(from, text.size() - from - 1).rfind('\n');
  return feed == std::string_view::npos ? 0 : from + feed + 1;
}

}  // namespace

Result<std::unique_ptr<BlockReader>> BlockReader::open(std::vector<std::string> files,
                                                       InputPosition from, HeaderRule header_rule) {
  std::unique_ptr<BlockReader> reader(new BlockReader(std::move(files), std::move(header_rule)));
  bool known = true;
  for (const std::string& file : reader->files_) {
    TRY(const bool regular, check_input(file));
    known = known && regular;
    reader->bytes_total_ += file_bytes(file);
  }
  if (!known) reader->bytes_total_ = 0;
  TRY_VOID(reader->skip_to(from));
  return reader;
}

void BlockReader::follow(HeaderRule header_rule) {
  const std::scoped_lock lock(mutex_);
  header_rule_ = std::move(header_rule);
}

Result<void> BlockReader::open_file() {
  TRY(input_, TextInput::open(files_[at_.file]));
  header_.clear();
  ended_ = false;
  told_ = false;
  return {};
}

void BlockReader::end_file() {
  if (input_) bytes_before_ += input_->bytes_read();
  input_.reset();
  rest_.clear();
  at_ = {.file = at_.file + 1};
}

// Reads more text. False at the end of the file. An error is final.
Result<bool> BlockReader::fill(std::string& text) {
  if (broken_) return std::unexpected(*broken_);
  if (ended_) return false;
  const std::size_t before = text.size();
  Result<std::size_t> got;
  text.resize_and_overwrite(before + kBlockBytes, [&](char* bytes, std::size_t) {
    got = input_->read({bytes + before, kBlockBytes});
    return before + got.value_or(0);
  });
  bytes_read_ = bytes_before_ + input_->bytes_read();
  if (!got) {
    broken_ = got.error();
    return std::unexpected(*broken_);
  }
  ended_ = *got == 0;
  return !ended_;
}

// Looks for the header of what follows these lines.
void BlockReader::pass(std::string_view lines) {
  if (header_rule_) header_ = header_rule_(header_, lines);
}

// A block for what is ignored at the end of the file, if no other block says it.
std::optional<TextBlock> BlockReader::ignored_block() const {
  std::string ignored = told_ ? std::string() : input_->ignored();
  if (ignored.empty()) return std::nullopt;
  return TextBlock{
      .begin = at_, .end = {.file = at_.file + 1, .offset = 0}, .ignored = std::move(ignored)};
}

Result<BlockReader::Peeked> BlockReader::peek() {
  const std::scoped_lock lock(mutex_);
  for (; at_.file < files_.size(); end_file()) {
    if (!input_) TRY_VOID(open_file());
    // Until the size is reached, so that the result does not depend on the writes into a pipe.
    for (bool more = true; more && !broken_ && rest_.size() < kBlockBytes;) {
      more = fill(rest_).value_or(false);
    }
    // next() returns the lines before an error.
    if (broken_ && !rest_.contains('\n')) return std::unexpected(*broken_);
    const std::string_view text = at_.offset == 0 ? without_mark(rest_) : std::string_view(rest_);
    if (!text.empty()) return Peeked{.text = text, .file = files_[at_.file]};
    if (auto passed = ignored_block()) passed_.push_back(*std::move(passed));
  }
  return Peeked();
}

Result<void> BlockReader::skip_to(const InputPosition& from) {
  for (; at_.file < from.file; ++at_.file) bytes_before_ += file_bytes(files_[at_.file]);
  bytes_read_ = bytes_before_;
  if (from.offset == 0) return {};
  TRY_VOID(open_file());
  told_ = true;
  std::size_t seen = 0;  // of rest_; no line ends there
  while (at_.offset < from.offset) {
    TRY(const bool more, fill(rest_));
    if (!more) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("{} is shorter than when the import was interrupted: it changed",
                              files_[at_.file]));
    }
    const std::uint64_t wanted = from.offset - at_.offset;
    const std::size_t feed = std::string_view(rest_).substr(seen).rfind('\n');
    std::size_t end = feed == std::string_view::npos ? 0 : seen + feed + 1;
    if (wanted <= rest_.size()) end = wanted;
    seen = rest_.size() - end;
    if (end > 0) {
      const std::string_view lines = std::string_view(rest_).substr(0, end);
      pass(at_.offset == 0 ? without_mark(lines) : lines);
      rest_.erase(0, end);
      at_.offset += end;
    } else if (rest_.size() > kLineBytesMax) {
      TRY_VOID(skip_rest_of_line());
      seen = 0;
    }
  }
  return {};
}

std::uint64_t BlockReader::blocks() const {
  const std::scoped_lock lock(mutex_);
  return blocks_;
}

InputFault BlockReader::fault(const Error& why) const {
  const std::scoped_lock lock(mutex_);
  if (!failed_ || failed_->code != Errc::kCorruption || why.message != failed_->message) {
    return InputFault::kNone;
  }
  return input_ && input_->truncated() ? InputFault::kTruncated : InputFault::kDamaged;
}

// Drops the rest of a line that is too long.
Result<void> BlockReader::skip_rest_of_line() {
  while (true) {
    const std::size_t end = rest_.find('\n');
    const std::size_t dropped = end == std::string::npos ? rest_.size() : end + 1;
    at_.offset += dropped;
    rest_.erase(0, dropped);
    if (end != std::string::npos) return {};
    TRY(const bool more, fill(rest_));
    if (!more) return {};
  }
}

Result<std::optional<TextBlock>> BlockReader::next(std::string buffer) {
  const std::scoped_lock lock(mutex_);
  if (failed_) return std::unexpected(*failed_);
  auto block = next_block(std::move(buffer));
  if (!block) {
    failed_ = block.error();
  } else if (*block) {
    (*block)->number = blocks_++;
  }
  return block;
}

// Without its number.
Result<std::optional<TextBlock>> BlockReader::next_block(std::string text) {
  if (!passed_.empty()) {
    TextBlock block = std::move(passed_.front());
    passed_.pop_front();
    return block;
  }
  for (; at_.file < files_.size(); end_file()) {
    if (!input_) TRY_VOID(open_file());
    text.reserve(2 * kBlockBytes);
    text.assign(rest_);
    // A block keeps back the last line that was read: if the file ends behind it, its block says
    // so.
    std::size_t end = lines_end(text, 0);
    bool more = true;
    while (more && !broken_ &&
           (text.size() <= kBlockBytes || (end == 0 && text.size() <= kLineBytesMax))) {
      const std::size_t before = text.size();
      more = fill(text).value_or(true);
      // The last byte read before may be the line feed that was kept back.
      end = std::max(end, lines_end(text, std::max<std::size_t>(before, 1) - 1));
    }
    if (broken_) {
      // The last line before the error may be cut off.
      end = text.rfind('\n') + 1;
      if (end == 0) return std::unexpected(*broken_);
    }
    if (!more) end = text.size();
    if (text.empty()) {
      std::optional<TextBlock> block = ignored_block();
      if (!block) continue;
      end_file();
      return block;
    }
    TextBlock block{.begin = at_, .header = header_, .ends = !more};
    if (end == 0) {
      block.too_long = true;
      rest_ = std::move(text);
      block.text = rest_.substr(0, kBlockBytes);
      TRY_VOID(skip_rest_of_line());
    } else {
      rest_.assign(text, end);
      text.resize(end);
      block.text = std::move(text);
      at_.offset += end;
      if (block.begin.offset == 0) {
        block.text.erase(0, block.text.size() - without_mark(block.text).size());
      }
      pass(block.text);
    }
    block.ignored = input_->ignored();
    told_ = !block.ignored.empty();
    block.end = at_;
    return block;
  }
  return std::nullopt;
}

}  // namespace halite::app
