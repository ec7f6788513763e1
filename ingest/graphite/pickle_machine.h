// Python's pickle, as far as it says numbers, texts, lists and tuples. Private to ingest/graphite.
//
// A pickle is a program for a stack machine. Its other opcodes make objects of any class; this
// machine does not know them, and they are errors. Protocols 0 to 5 of Python 2 and 3.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace halite::ingest {

// What a pickle may need. More is an error.
struct PickleLimits {
  std::size_t stack_max = 1 << 17;  // items on the stack at a time
  std::size_t memo_max = 1 << 17;   // numbers of kept items
  std::size_t items_max = 1 << 18;  // of all lists and tuples
  std::uint32_t depth_max = 16;     // lists and tuples within each other
};

struct PickleItem {
  enum class Kind : std::uint8_t {
    kUnset,  // of the memo
    kNone,
    kInteger,  // also True and False
    kReal,
    kText,  // str or bytes
    kHuge,  // an integer beyond 128 bits
    kTuple,
    kList,
  };
  Kind kind = Kind::kUnset;
  std::uint64_t bits = 0;      // a number, the bytes of a text, or the number of a sequence
  const char* text = nullptr;  // of kText

  [[nodiscard]] static PickleItem of_integer(std::int64_t integer) {
    return {.kind = Kind::kInteger, .bits = static_cast<std::uint64_t>(integer), .text = nullptr};
  }
  // Also of integers beyond 64 bits.
  [[nodiscard]] static PickleItem of_real(double real) {
    return {.kind = Kind::kReal, .bits = std::bit_cast<std::uint64_t>(real), .text = nullptr};
  }
  [[nodiscard]] static PickleItem of_text(std::string_view text) {
    return {.kind = Kind::kText, .bits = text.size(), .text = text.data()};
  }
  [[nodiscard]] static PickleItem of_kind(Kind kind, std::size_t sequence = 0) {
    return {.kind = kind, .bits = sequence, .text = nullptr};
  }

  [[nodiscard]] std::int64_t integer() const { return static_cast<std::int64_t>(bits); }
  [[nodiscard]] double real() const { return std::bit_cast<double>(bits); }
  [[nodiscard]] std::string_view as_text() const { return {text, bits}; }
  [[nodiscard]] std::size_t sequence() const { return bits; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::kTuple || kind == Kind::kList; }
};

class PickleMachine {
 public:
  // `program` outlives the machine.
  explicit PickleMachine(std::string_view program, const PickleLimits& limits = {})
      : program_(program), limits_(limits) {}

  // Runs the whole program, and returns what is left. Call it once. kInvalidArgument: what is
  // wrong, and at which byte, from 0.
  [[nodiscard]] Result<PickleItem> run();

  // Walks over the items of a list or tuple: at(first(x)), at(next(..)), until kEnd.
  static constexpr std::uint32_t kEnd = UINT32_MAX;
  [[nodiscard]] std::uint32_t first(const PickleItem& item) const {
    return sequences_[item.sequence()].first;
  }
  [[nodiscard]] std::uint32_t next(std::uint32_t node) const { return nodes_[node].next; }
  [[nodiscard]] const PickleItem& at(std::uint32_t node) const { return nodes_[node].item; }
  [[nodiscard]] std::size_t size(const PickleItem& item) const {
    return sequences_[item.sequence()].size;
  }

 private:
  struct Node {
    PickleItem item;
    std::uint32_t next = kEnd;
  };
  struct Sequence {
    std::uint32_t first = kEnd;
    std::uint32_t last = kEnd;
    std::uint32_t size = 0;
    std::uint32_t depth = 1;
  };

  [[nodiscard]] Result<void> step(unsigned char opcode);
  [[nodiscard]] Result<bool> step_number(unsigned char opcode);  // false: no such opcode
  [[nodiscard]] Result<bool> step_text(unsigned char opcode);
  [[nodiscard]] Result<bool> step_sequence(unsigned char opcode);
  [[nodiscard]] Result<bool> step_memo(unsigned char opcode);

  // Of the program.
  [[nodiscard]] Result<std::string_view> take(std::uint64_t bytes);
  [[nodiscard]] Result<std::uint64_t> take_count(std::size_t bytes);  // little-endian
  [[nodiscard]] Result<std::string_view> take_line();
  [[nodiscard]] Result<void> take_integer_line(bool is_long);
  [[nodiscard]] Result<void> take_long(std::size_t count_bytes);
  [[nodiscard]] Result<std::uint64_t> take_memo_line();

  // Of the stack.
  [[nodiscard]] std::size_t available() const;  // items above the last mark
  [[nodiscard]] Result<void> need(std::size_t items) const;
  [[nodiscard]] Result<void> push(const PickleItem& item);
  [[nodiscard]] Result<std::size_t> pop_mark();  // the number of items above it
  // Makes a tuple or list of the last items.
  [[nodiscard]] Result<void> gather(PickleItem::Kind kind, std::size_t count);
  // Moves the last items into the list before them.
  [[nodiscard]] Result<void> append(std::size_t count);
  [[nodiscard]] Result<void> add_last(std::size_t sequence, std::size_t count);

  [[nodiscard]] Result<void> put(std::uint64_t number);
  [[nodiscard]] Result<void> get(std::uint64_t number);

  [[nodiscard]] std::unexpected<Error> wrong(std::string_view what) const;

  const std::string_view program_;
  const PickleLimits limits_;
  std::size_t at_ = 0;      // the next byte
  std::size_t opcode_ = 0;  // where the current opcode is
  std::vector<PickleItem> stack_;
  std::vector<std::size_t> marks_;  // heights of the stack
  std::vector<PickleItem> memo_;
  std::size_t memorized_ = 0;  // items of the memo that are set
  std::vector<Node> nodes_;
  std::vector<Sequence> sequences_;
  std::string decoded_;  // texts that had escapes; never moves
};

}  // namespace halite::ingest
