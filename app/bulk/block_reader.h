// Cuts a list of inputs into blocks of whole lines, in order.
//
//   Threads  next() from any thread, also several; the rest from any.
//   Memory   a block has one to two times kBlockBytes, or one line of up to kLineBytesMax.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/bulk/text_input.h"
#include "common/result.h"

namespace halite::app {

inline constexpr std::size_t kBlockBytes = 1 << 18;
// A longer line is refused.
inline constexpr std::size_t kLineBytesMax = 64 << 20;

// A place between two lines.
struct InputPosition {
  std::size_t file = 0;      // index in the list
  std::uint64_t offset = 0;  // bytes of unpacked text before it in the file
  bool operator==(const InputPosition&) const = default;
};

struct TextBlock {
  std::uint64_t number = 0;  // counts from 0
  InputPosition begin;
  InputPosition end = {};
  std::string header = {};  // of `text`, if it is before it in the file: HeaderRule
  // Whole lines; the last one of a file may lack its line feed. Without a byte order mark.
  std::string text = {};
  bool ends = false;         // the file ends here
  bool too_long = false;     // `text` is the beginning of one line that is too long
  std::string ignored = {};  // what follows in the file and is not read: TextInput::ignored()
};

// For formats with headers: the header of what follows `lines` in a file, where `header` is that of
// `lines`. At the beginning of a file it is empty.
using HeaderRule = std::function<std::string(std::string_view header, std::string_view lines)>;

// What is wrong with compressed data. Of damaged data see TextInput.
enum class InputFault : std::uint8_t { kNone, kTruncated, kDamaged };

class BlockReader {
 public:
  // kNotFound, kUnavailable, kInvalidArgument: an input does not exist, cannot be opened or is a
  // directory.
  static Result<std::unique_ptr<BlockReader>> open(std::vector<std::string> files,
                                                   InputPosition from = {},
                                                   HeaderRule header_rule = {});

  // The same, where it is known only after peek().
  void follow(HeaderRule header_rule);

  struct Peeked {
    std::string_view text;
    std::string_view file;
  };
  // The beginning of the next file with text: kBlockBytes or more, or all lines before its end or
  // an error. Empty if there is none. Valid until next() is called.
  Result<Peeked> peek();

  // The next block; nothing at the end. An error is final: later calls return it, too. It comes
  // behind the blocks of all whole lines before it. `buffer`: the text of a block that is no longer
  // needed, whose memory is used again.
  Result<std::optional<TextBlock>> next(std::string buffer = {});

  [[nodiscard]] const std::vector<std::string>& files() const { return files_; }
  // As stored; 0: unknown, an input is no regular file.
  [[nodiscard]] std::uint64_t bytes_total() const { return bytes_total_; }
  [[nodiscard]] std::uint64_t bytes_read() const { return bytes_read_; }
  // The number of blocks that next() has returned.
  [[nodiscard]] std::uint64_t blocks() const;
  // What is wrong with the data if `why` is the error of next().
  [[nodiscard]] InputFault fault(const Error& why) const;

 private:
  BlockReader(std::vector<std::string> files, HeaderRule header_rule)
      : files_(std::move(files)), header_rule_(std::move(header_rule)) {}
  Result<void> open_file();
  Result<void> skip_to(const InputPosition& from);
  Result<void> skip_rest_of_line();
  Result<std::optional<TextBlock>> next_block(std::string text);
  Result<bool> fill(std::string& text);
  void pass(std::string_view lines);
  [[nodiscard]] std::optional<TextBlock> ignored_block() const;
  void end_file();

  const std::vector<std::string> files_;
  std::uint64_t bytes_total_ = 0;
  std::atomic<std::uint64_t> bytes_read_ = 0;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  HeaderRule header_rule_;  // empty: the format has no headers
  std::unique_ptr<TextInput> input_;
  InputPosition at_;
  std::string header_;            // at this place
  std::string rest_;              // text that was read and not returned
  bool ended_ = false;            // the file
  bool told_ = false;             // a block, perhaps of before, says what is ignored in the file
  std::deque<TextBlock> passed_;  // of files that peek() passed
  std::optional<Error> broken_;   // of input_
  std::optional<Error> failed_;   // of next()
  std::uint64_t blocks_ = 0;
  std::uint64_t bytes_before_ = 0;  // of finished files
};

}  // namespace halite::app
