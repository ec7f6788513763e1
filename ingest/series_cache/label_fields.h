// Labels as remote_write 1.0 has them in a TimeSeries: fields 1, each a message with a name (1) and
// a value (2). They are the tags of a key of KeyGrammar::kLabelFields.
//
//   LabelFields labels(key.tags);
//   while (labels.next()) use(labels.name(), labels.value());
//   if (labels.fault()) ..  the bytes are something else
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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

  // What a label has besides its name and its value, at most.
  static constexpr std::size_t kOverheadMax = 3 * (1 + kVarintBytesMax);

  // Writes a label at `to`, as senders do, and returns the end. copy(to, text) copies a text.
  template <class Copy>
  [[nodiscard]] static char* store(char* to, std::string_view name, std::string_view value,
                                   Copy copy) {
    to = store_prefix(to, kLabel, size_of(name) + size_of(value));
    if (!name.empty()) {
      to = store_prefix(to, kName, name.size());
      copy(to, name);
      to += name.size();
    }
    if (!value.empty()) {
      to = store_prefix(to, kValue, value.size());
      copy(to, value);
      to += value.size();
    }
    return to;
  }
  // Removes a label as store() writes it from the front of `fields`, if it is this one. The texts
  // come with their sizes before them. False: it is another, and `fields` is unspecified.
  [[nodiscard]] static bool take(std::string_view& fields, std::string_view sized_name,
                                 std::string_view sized_value) {
    constexpr std::size_t kEmpty = 1;  // an empty text has a size of one byte, and no field
    const std::size_t name_size = sized_name.size() == kEmpty ? 0 : 1 + sized_name.size();
    const std::size_t value_size = sized_value.size() == kEmpty ? 0 : 1 + sized_value.size();
    if (!fields.starts_with(prefix(kLabel))) return false;
    fields.remove_prefix(1);
    const auto size = take_varint(fields);
    if (size != name_size + value_size || fields.size() < *size) return false;
    const bool is_equal =
        (name_size == 0 || is_field(fields.data(), kName, sized_name)) &&
        (value_size == 0 || is_field(fields.data() + name_size, kValue, sized_value));
    fields.remove_prefix(*size);
    return is_equal;
  }
  static void append(std::string& to, std::string_view name, std::string_view value) {
    const std::size_t before = to.size();
    const std::size_t room = kOverheadMax + name.size() + value.size();
    to.resize_and_overwrite(before + room, [&](char* text, std::size_t) {
      const char* const end =
          store(text + before, name, value,
                [](char* at, std::string_view from) { std::memcpy(at, from.data(), from.size()); });
      return static_cast<std::size_t>(end - text);
    });
  }

 private:
  static constexpr std::uint32_t kName = 1;
  static constexpr std::uint32_t kValue = 2;

  [[nodiscard]] static std::size_t size_of(std::string_view text) {
    return text.empty() ? 0 : 1 + varint_size(text.size()) + text.size();
  }
  [[nodiscard]] static constexpr char prefix(std::uint32_t field) {
    return static_cast<char>(field << 3 | static_cast<std::uint32_t>(ProtoWire::kBytes));
  }
  [[nodiscard]] static bool is_field(const char* at, std::uint32_t field, std::string_view sized) {
    return *at == prefix(field) && std::memcmp(at + 1, sized.data(), sized.size()) == 0;
  }
  [[nodiscard]] static char* store_prefix(char* to, std::uint32_t field, std::size_t size) {
    *to = prefix(field);
    return store_varint(to + 1, size);
  }

  ProtoFault fault_;
  ProtoReader fields_;
  std::string_view name_;
  std::string_view value_;
};

}  // namespace halite::ingest
