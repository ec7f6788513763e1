// Labels as remote_write 1.0 has them in a TimeSeries: fields 1, each a message with a name (1) and
// a value (2). They are the tags of a key of KeyGrammar::kLabelFields.
//
//   LabelFields labels(key.tags);
//   while (labels.next()) use(labels.name(), labels.value());
//   if (labels.fault()) ..  the bytes are something else
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/bytes/proto_reader.h"
#include "common/bytes/varint.h"

namespace halite::ingest {

class LabelFields {
 public:
  static constexpr std::uint32_t kLabel = 1;

  explicit LabelFields(std::string_view fields) : fields_(fields, fault_) {}

  // Either may be empty.
  [[nodiscard]] bool next() {
    if (!fields_.next()) return false;
    if (fields_.field() != kLabel) {
      fields_.refuse("is no label");
      return false;
    }
    name_ = value_ = {};
    ProtoReader label = fields_.message();
    while (label.next()) {
      if (label.field() == kName) name_ = label.bytes();
      if (label.field() == kValue) value_ = label.bytes();
    }
    return !fault_;
  }
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] std::string_view value() const { return value_; }
  [[nodiscard]] const ProtoFault& fault() const { return fault_; }

  // Appends a label as senders write it.
  static void append(std::string& to, std::string_view name, std::string_view value) {
    append_prefix(to, kLabel, size_of(name) + size_of(value));
    append_text(to, kName, name);
    append_text(to, kValue, value);
  }

 private:
  static constexpr std::uint32_t kName = 1;
  static constexpr std::uint32_t kValue = 2;

  [[nodiscard]] static std::size_t size_of(std::string_view text) {
    return text.empty() ? 0 : 1 + varint_size(text.size()) + text.size();
  }
  static void append_prefix(std::string& to, std::uint32_t field, std::size_t size) {
    char bytes[1 + kVarintBytesMax];
    bytes[0] = static_cast<char>(field << 3 | static_cast<std::uint32_t>(ProtoWire::kBytes));
    to.append(bytes, store_varint(bytes + 1, size));
  }
  static void append_text(std::string& to, std::uint32_t field, std::string_view text) {
    if (text.empty()) return;
    append_prefix(to, field, text.size());
    to += text;
  }

  ProtoFault fault_;
  ProtoReader fields_;
  std::string_view name_;
  std::string_view value_;
};

}  // namespace halite::ingest
