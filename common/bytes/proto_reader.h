// Reads the fields of a protobuf message as they lie in its bytes. No message objects.
//
//   ProtoFault fault;
//   ProtoReader reader(body, fault);
//   while (reader.next()) {
//     if (reader.field() == 1) name = reader.bytes();
//     if (reader.field() == 2) read_part(reader.message());
//   }
//   if (fault) return fail(Errc::kInvalidArgument, fault.text());
//
//   Unknown fields   need no call: next() steps over them.
//   Faults           bytes that are no message, groups, and a field of another wire type than the
//                    accessor wants. After the first one next() returns false in all readers that
//                    share the fault, and accessors return 0 or nothing.
//   Lifetime         views and readers refer to the body; the fault outlives its readers.
//   Threads          one thread at a time uses the readers of a fault.
//
// Over 140 lines because its inline functions run for each field.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "common/bytes/bytes.h"
#include "common/bytes/little_endian.h"
#include "common/bytes/varint.h"

namespace halite {

enum class ProtoWire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// What is wrong with a body; nothing at first.
class ProtoFault {
 public:
  [[nodiscard]] explicit operator bool() const { return what_ != nullptr; }
  // "byte 17: field 3 does not end"; the first byte is 1. Empty without a fault.
  [[nodiscard]] std::string text() const;

  // Keeps the first fault. `what` is a literal.
  void set(const char* what, std::size_t position, std::uint32_t field) {
    if (what_ != nullptr) return;
    what_ = what;
    position_ = position;
    field_ = field;
  }

 private:
  const char* what_ = nullptr;
  std::size_t position_ = 0;  // in the body, from 0
  std::uint32_t field_ = 0;   // 0: none
};

class ProtoReader {
 public:
  ProtoReader(BytesView body, ProtoFault& fault)
      : origin_(body.data()), at_(origin_), end_(origin_ + body.size()), fault_(&fault) {}
  ProtoReader(const ProtoReader&) = delete;
  ProtoReader& operator=(const ProtoReader&) = delete;

  // Moves to the next field. False: the message ends, or there is a fault.
  [[nodiscard]] bool next() {
    if (at_ == end_ || *fault_) return false;
    field_at_ = at_;
    field_ = 0;
    if (!take(value_)) return stop("a field number that does not end");
    if (value_ > UINT32_MAX || value_ < 8) return stop("not the number of a field");
    field_ = static_cast<std::uint32_t>(value_ >> 3);
    wire_ = static_cast<ProtoWire>(value_ & 7);
    switch (wire_) {
      case ProtoWire::kVarint:
        return take(value_) || stop("is a varint that does not end");
      case ProtoWire::kFixed64:
        return take_fixed<std::uint64_t>();
      case ProtoWire::kFixed32:
        return take_fixed<std::uint32_t>();
      case ProtoWire::kBytes:
        if (!take(value_) || value_ > static_cast<std::size_t>(end_ - at_)) {
          return stop("is longer than its message");
        }
        at_ += value_;
        return true;
    }
    return stop("is a group or of an unknown wire type");
  }

  [[nodiscard]] std::uint32_t field() const { return field_; }
  [[nodiscard]] ProtoWire wire() const { return wire_; }
  // The current field with its number and length, as it lies in the body.
  [[nodiscard]] BytesView raw() const { return {field_at_, at_}; }

  // The value of the current field, which has to be of this kind. A negative int32 or int64 is a
  // varint of 64 bits; sint32 and sint64 need unzigzag().
  [[nodiscard]] std::uint64_t varint() { return value_of(ProtoWire::kVarint); }
  [[nodiscard]] std::int64_t int64() { return static_cast<std::int64_t>(varint()); }
  [[nodiscard]] std::uint64_t fixed64() { return value_of(ProtoWire::kFixed64); }
  [[nodiscard]] std::uint64_t double_bits() { return fixed64(); }
  [[nodiscard]] std::uint32_t fixed32() {
    return static_cast<std::uint32_t>(value_of(ProtoWire::kFixed32));
  }
  // A string, which need not be UTF-8, or bytes.
  [[nodiscard]] BytesView bytes() {
    const std::uint64_t size = value_of(ProtoWire::kBytes);
    return {at_ - size, static_cast<std::size_t>(size)};
  }

  // Moves over the fields directly behind the current one that have its number, all of them of
  // kBytes. Returns them and the current one, as they lie in the body, for again(). Then only
  // next() may follow.
  [[nodiscard]] BytesView take_run() {
    const char* const begin = field_at_;
    const char tag = *begin;
    if (wire_ != ProtoWire::kBytes || static_cast<unsigned char>(tag) >= 0x80) return raw();
    while (at_ != end_ && *at_ == tag) {
      const char* const field = at_++;
      if (!take(value_) || value_ > static_cast<std::size_t>(end_ - at_)) {
        at_ = field;  // next() reports it
        break;
      }
      at_ += value_;
    }
    return {begin, at_};
  }

  [[nodiscard]] ProtoReader message() { return {bytes(), *fault_, origin_}; }
  // Reads some of the fields again, which lie in the body.
  [[nodiscard]] ProtoReader again(BytesView fields) const { return {fields, *fault_, origin_}; }

  // Calls use(std::uint64_t) for each number of a repeated field, packed or not. Call it for each
  // part of the field.
  template <class Use>
  void each_varint(Use use) {
    if (wire_ == ProtoWire::kVarint) return use(value_);
    const BytesView packed = bytes();
    ProtoReader numbers(packed, *fault_, origin_);
    numbers.field_ = field_;
    while (numbers.at_ != numbers.end_) {
      numbers.field_at_ = numbers.at_;
      if (!numbers.take(numbers.value_)) {
        static_cast<void>(numbers.stop("has a varint that does not end"));
        return;
      }
      use(numbers.value_);
    }
  }
  template <class Use>
  void each_fixed64(Use use) {
    if (wire_ == ProtoWire::kFixed64) return use(value_);
    BytesView packed = bytes();
    if (packed.size() % sizeof(std::uint64_t) != 0) {
      static_cast<void>(stop("is packed, and no multiple of 8 bytes long"));
      return;
    }
    for (; !packed.empty(); packed.remove_prefix(sizeof(std::uint64_t))) {
      use(load_le<std::uint64_t>(packed.data()));
    }
  }

  // Reports the current field as faulty: "byte 17: field 3 <what>".
  void refuse(const char* what) { static_cast<void>(stop(what)); }

 private:
  ProtoReader(BytesView part, ProtoFault& fault, const char* origin)
      : origin_(origin), at_(part.data()), end_(at_ + part.size()), fault_(&fault) {}

  [[nodiscard]] bool take(std::uint64_t& value) {
    if (at_ != end_ && static_cast<unsigned char>(*at_) < 0x80) [[likely]] {
      value = static_cast<unsigned char>(*at_++);
      return true;
    }
    BytesView rest(at_, end_);
    const auto taken = take_varint(rest);
    if (!taken) return false;
    value = *taken;
    at_ = rest.data();
    return true;
  }
  template <class T>
  [[nodiscard]] bool take_fixed() {
    if (static_cast<std::size_t>(end_ - at_) < sizeof(T)) return stop("is cut off");
    value_ = load_le<T>(at_);
    at_ += sizeof(T);
    return true;
  }
  [[nodiscard]] std::uint64_t value_of(ProtoWire wanted) {
    if (*fault_) return 0;
    if (wire_ == wanted) [[likely]]
      return value_;
    static_cast<void>(stop("is of another wire type"));
    return 0;
  }
  [[nodiscard]] bool stop(const char* what) {
    fault_->set(what, static_cast<std::size_t>(field_at_ - origin_), field_);
    return false;
  }

  const char* const origin_;  // of the body
  const char* at_;            // behind the current field
  const char* const end_;
  const char* field_at_ = at_;  // where the current field begins
  ProtoFault* const fault_;
  std::uint64_t value_ = 0;  // of kBytes: its length
  std::uint32_t field_ = 0;
  ProtoWire wire_ = ProtoWire::kVarint;
};

}  // namespace halite
