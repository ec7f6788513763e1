#include "ingest/graphite/pickle_machine.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "ingest/formats/number_text.h"
#include "ingest/graphite/pickle_values.h"

namespace halite::ingest {
namespace {

using Kind = PickleItem::Kind;

constexpr unsigned kProtocolMax = 5;
constexpr char kStop = '.';

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

}  // namespace

std::unexpected<Error> PickleMachine::wrong(std::string_view what) const {
  return fail(Errc::kInvalidArgument, fmt::format("byte {} of the pickle: {}", opcode_, what));
}

Result<PickleItem> PickleMachine::run() {
  while (true) {
    opcode_ = at_;
    if (at_ == program_.size()) return wrong("it ends without STOP");
    const char opcode = program_[at_++];
    if (opcode == kStop) break;
    TRY_VOID(step(static_cast<unsigned char>(opcode)));
  }
  if (stack_.size() != 1 || !marks_.empty()) {
    return wrong(fmt::format("it leaves {} objects instead of one", stack_.size()));
  }
  if (at_ != program_.size()) return wrong("something follows the end");
  return stack_.front();
}

Result<void> PickleMachine::step(unsigned char opcode) {
  TRY(bool known, step_text(opcode));
  if (known) return {};
  TRY(known, step_sequence(opcode));
  if (known) return {};
  TRY(known, step_number(opcode));
  if (known) return {};
  TRY(known, step_memo(opcode));
  if (known) return {};
  switch (opcode) {
    case 0x80: {  // PROTO
      TRY(const std::uint64_t version, take_count(1));
      if (version <= kProtocolMax) return {};
      return wrong(fmt::format("protocol {} is not known, at most {}", version, kProtocolMax));
    }
    case 0x95: {  // FRAME
      TRY(const std::uint64_t bytes, take_count(8));
      if (bytes <= program_.size() - at_) return {};
      return wrong("a frame that is longer than the pickle");
    }
    case '(':  // MARK
      if (marks_.size() >= limits_.stack_max) {
        return wrong(fmt::format("more than {} marks", limits_.stack_max));
      }
      marks_.push_back(stack_.size());
      return {};
    case '0':  // POP
      if (available() == 0 && !marks_.empty()) {
        marks_.pop_back();
        return {};
      }
      TRY_VOID(need(1));
      stack_.pop_back();
      return {};
    case '1': {  // POP_MARK
      TRY(const std::size_t count, pop_mark());
      stack_.resize(stack_.size() - count);
      return {};
    }
    case '2':  // DUP
      TRY_VOID(need(1));
      return push(stack_.back());
    default:
      return wrong(fmt::format(
          "the opcode 0x{:02x}: only numbers, texts, lists and tuples are read", opcode));
  }
}

Result<bool> PickleMachine::step_text(unsigned char opcode) {
  std::size_t count_bytes = 0;
  switch (opcode) {
    case 'U':   // SHORT_BINSTRING
    case 'C':   // SHORT_BINBYTES
    case 0x8c:  // SHORT_BINUNICODE
      count_bytes = 1;
      break;
    case 'T':  // BINSTRING
    case 'X':  // BINUNICODE
    case 'B':  // BINBYTES
      count_bytes = 4;
      break;
    case 0x8d:  // BINUNICODE8
      count_bytes = 8;
      break;
    case 'V':  // UNICODE
    case 'S':  // STRING
      break;
    default:
      return false;
  }
  if (count_bytes != 0) {
    TRY(const std::uint64_t bytes, take_count(count_bytes));
    TRY(const std::string_view text, take(bytes));
    TRY_VOID(push(PickleItem::of_text(text)));
    return true;
  }
  TRY(std::string_view line, take_line());
  if (opcode == 'S') {
    const bool quoted = line.size() >= 2 && (line.front() == '\'' || line.front() == '"') &&
                        line.front() == line.back();
    if (!quoted) return wrong("a text without its quotes");
    line = line.substr(1, line.size() - 2);
  }
  const bool has_others = opcode == 'V' && std::ranges::any_of(line, [](char c) {
                            return static_cast<unsigned char>(c) >= 0x80;
                          });
  if (!line.contains('\\') && !has_others) {
    TRY_VOID(push(PickleItem::of_text(line)));
    return true;
  }
  // The views stay valid: the text becomes at most twice as long.
  if (decoded_.capacity() < 2 * program_.size()) decoded_.reserve(2 * program_.size());
  const std::size_t begin = decoded_.size();
  const bool good =
      opcode == 'S' ? append_python_string(decoded_, line) : append_raw_unicode(decoded_, line);
  if (!good) return wrong("a text with a wrong escape");
  TRY_VOID(push(PickleItem::of_text(std::string_view(decoded_).substr(begin))));
  return true;
}

Result<bool> PickleMachine::step_sequence(unsigned char opcode) {
  switch (opcode) {
    case ']':  // EMPTY_LIST
      TRY_VOID(gather(Kind::kList, 0));
      return true;
    case ')':  // EMPTY_TUPLE
      TRY_VOID(gather(Kind::kTuple, 0));
      return true;
    case 'l':    // LIST
    case 't': {  // TUPLE
      TRY(const std::size_t count, pop_mark());
      TRY_VOID(gather(opcode == 'l' ? Kind::kList : Kind::kTuple, count));
      return true;
    }
    case 0x85:  // TUPLE1
    case 0x86:  // TUPLE2
    case 0x87:  // TUPLE3
      TRY_VOID(need(opcode - 0x84U));
      TRY_VOID(gather(Kind::kTuple, opcode - 0x84U));
      return true;
    case 'a':  // APPEND
      TRY_VOID(need(2));
      TRY_VOID(append(1));
      return true;
    case 'e': {  // APPENDS
      TRY(const std::size_t count, pop_mark());
      TRY_VOID(append(count));
      return true;
    }
    default:
      return false;
  }
}

Result<bool> PickleMachine::step_number(unsigned char opcode) {
  switch (opcode) {
    case 'J': {  // BININT
      TRY(const std::uint64_t count, take_count(4));
      TRY_VOID(push(
          PickleItem::of_integer(static_cast<std::int32_t>(static_cast<std::uint32_t>(count)))));
      return true;
    }
    case 'K':    // BININT1
    case 'M': {  // BININT2
      TRY(const std::uint64_t count, take_count(opcode == 'K' ? 1 : 2));
      TRY_VOID(push(PickleItem::of_integer(static_cast<std::int64_t>(count))));
      return true;
    }
    case 'I':  // INT
    case 'L':  // LONG
      TRY_VOID(take_integer_line(opcode == 'L'));
      return true;
    case 0x8a:  // LONG1
    case 0x8b:  // LONG4
      TRY_VOID(take_long(opcode == 0x8a ? 1 : 4));
      return true;
    case 'G': {  // BINFLOAT
      TRY(const std::string_view bytes, take(8));
      std::uint64_t bits = 0;
      std::memcpy(&bits, bytes.data(), sizeof(bits));
      TRY_VOID(push(PickleItem::of_real(std::bit_cast<double>(std::byteswap(bits)))));
      return true;
    }
    case 'F': {  // FLOAT
      TRY(const std::string_view line, take_line());
      const auto bits = read_go_double(line);
      if (!bits) return wrong("a wrong number");
      TRY_VOID(push(PickleItem::of_real(as_double(*bits))));
      return true;
    }
    case 'N':  // NONE
      TRY_VOID(push(PickleItem::of_kind(Kind::kNone)));
      return true;
    case 0x88:  // NEWTRUE
    case 0x89:  // NEWFALSE
      TRY_VOID(push(PickleItem::of_integer(opcode == 0x88 ? 1 : 0)));
      return true;
    default:
      return false;
  }
}

Result<bool> PickleMachine::step_memo(unsigned char opcode) {
  switch (opcode) {
    case 'p': {  // PUT
      TRY(const std::uint64_t number, take_memo_line());
      TRY_VOID(put(number));
      return true;
    }
    case 'q':    // BINPUT
    case 'r': {  // LONG_BINPUT
      TRY(const std::uint64_t number, take_count(opcode == 'q' ? 1 : 4));
      TRY_VOID(put(number));
      return true;
    }
    case 0x94:  // MEMOIZE
      TRY_VOID(put(memorized_));
      return true;
    case 'g': {  // GET
      TRY(const std::uint64_t number, take_memo_line());
      TRY_VOID(get(number));
      return true;
    }
    case 'h':    // BINGET
    case 'j': {  // LONG_BINGET
      TRY(const std::uint64_t number, take_count(opcode == 'h' ? 1 : 4));
      TRY_VOID(get(number));
      return true;
    }
    default:
      return false;
  }
}

Result<std::string_view> PickleMachine::take(std::uint64_t bytes) {
  if (bytes > program_.size() - at_) return wrong("it is cut off");
  const std::string_view taken = program_.substr(at_, bytes);
  at_ += bytes;
  return taken;
}

Result<std::uint64_t> PickleMachine::take_count(std::size_t bytes) {
  TRY(const std::string_view taken, take(bytes));
  return little_endian(taken);
}

Result<std::string_view> PickleMachine::take_line() {
  const std::size_t end = program_.find('\n', at_);
  if (end == std::string_view::npos) return wrong("it is cut off");
  const std::string_view line = program_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

Result<void> PickleMachine::take_integer_line(bool is_long) {
  TRY(std::string_view line, take_line());
  // "00" and "01" are False and True, and read as 0 and 1.
  if (is_long && line.ends_with('L')) line.remove_suffix(1);
  const auto integer = integer_of(line);
  if (!integer) return wrong("a wrong number");
  return push(*integer);
}

Result<void> PickleMachine::take_long(std::size_t count_bytes) {
  TRY(const std::uint64_t bytes, take_count(count_bytes));
  TRY(const std::string_view number, take(bytes));
  return push(integer_of_bytes(number));
}

Result<std::uint64_t> PickleMachine::take_memo_line() {
  TRY(const std::string_view line, take_line());
  std::uint64_t number = 0;
  if (!read_number(line, number)) return wrong("a wrong number");
  return number;
}

std::size_t PickleMachine::available() const {
  return stack_.size() - (marks_.empty() ? 0 : marks_.back());
}

Result<void> PickleMachine::need(std::size_t items) const {
  if (available() < items) return wrong("the stack has too few objects");
  return {};
}

Result<void> PickleMachine::push(const PickleItem& item) {
  if (stack_.size() >= limits_.stack_max) {
    return wrong(fmt::format("more than {} objects on the stack", limits_.stack_max));
  }
  stack_.push_back(item);
  return {};
}

Result<std::size_t> PickleMachine::pop_mark() {
  if (marks_.empty()) return wrong("the stack has no mark");
  const std::size_t count = available();
  marks_.pop_back();
  return count;
}

Result<void> PickleMachine::gather(Kind kind, std::size_t count) {
  if (sequences_.size() >= limits_.items_max) {
    return wrong(fmt::format("more than {} lists and tuples", limits_.items_max));
  }
  const std::size_t sequence = sequences_.size();
  sequences_.emplace_back();
  TRY_VOID(add_last(sequence, count));
  return push(PickleItem::of_kind(kind, sequence));
}

Result<void> PickleMachine::append(std::size_t count) {
  TRY_VOID(need(count + 1));
  const PickleItem& list = stack_[stack_.size() - count - 1];
  if (list.kind != Kind::kList) return wrong("only lists are appended to");
  return add_last(list.sequence(), count);
}

Result<void> PickleMachine::add_last(std::size_t sequence, std::size_t count) {
  if (nodes_.size() + count > limits_.items_max) {
    return wrong(fmt::format("more than {} items of lists and tuples", limits_.items_max));
  }
  Sequence& to = sequences_[sequence];
  for (auto item = stack_.end() - static_cast<std::ptrdiff_t>(count); item != stack_.end();
       ++item) {
    if (item->is_sequence()) to.depth = std::max(to.depth, sequences_[item->sequence()].depth + 1);
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({.item = *item});
    (to.first == kEnd ? to.first : nodes_[to.last].next) = node;
    to.last = node;
    ++to.size;
  }
  stack_.resize(stack_.size() - count);
  if (to.depth <= limits_.depth_max) return {};
  return wrong(fmt::format("more than {} lists and tuples within each other", limits_.depth_max));
}

Result<void> PickleMachine::put(std::uint64_t number) {
  TRY_VOID(need(1));
  if (number >= limits_.memo_max) {
    return wrong(
        fmt::format("the number {} in the memo, at most {} are allowed", number, limits_.memo_max));
  }
  if (number >= memo_.size()) memo_.resize(number + 1);
  memorized_ += memo_[number].kind == Kind::kUnset ? 1 : 0;
  memo_[number] = stack_.back();
  return {};
}

Result<void> PickleMachine::get(std::uint64_t number) {
  if (number >= memo_.size() || memo_[number].kind == Kind::kUnset) {
    return wrong(fmt::format("nothing has the number {} in the memo", number));
  }
  return push(memo_[number]);
}

}  // namespace halite::ingest
