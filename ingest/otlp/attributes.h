// The attributes of a resource or of a data point, with their values as text. Private to
// ingest/otlp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/proto_reader.h"

namespace halite::ingest {

// AnyValues in AnyValues, at most.
inline constexpr std::size_t kValueDepthMax = 16;

// Appends an AnyValue as OpenTelemetry prints it: integers and doubles in decimal, bytes in base64,
// arrays and maps as JSON. A deeper value than kValueDepthMax is a fault.
void append_value_text(std::string& to, ProtoReader& value);

// Used again for one list after the other. Views of strings point into the body.
class Attributes {
 public:
  [[nodiscard]] std::size_t size() const { return list_.size(); }
  [[nodiscard]] std::string_view key(std::size_t i) const { return list_[i].key; }
  // An empty text if the attribute has no value.
  [[nodiscard]] std::string_view value(std::size_t i) const {
    const Attribute& attribute = list_[i];
    if (!attribute.is_made) return attribute.value;
    return std::string_view(made_).substr(attribute.begin, attribute.size);
  }

  void clear() {
    list_.clear();
    made_.clear();
  }
  void add(ProtoReader key_value) {
    Attribute attribute;
    while (key_value.next()) {
      if (key_value.field() == 1) attribute.key = key_value.bytes();
      if (key_value.field() == 2) take_value(key_value, attribute);
    }
    list_.push_back(attribute);
  }

 private:
  struct Attribute {
    std::string_view key;
    std::string_view value;  // of a string
    bool is_made = false;    // the text is in made_
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  void take_value(ProtoReader& key_value, Attribute& attribute) {
    const BytesView all = key_value.bytes();
    ProtoReader value = key_value.message();
    if (value.next() && value.field() == 1 && value.raw().size() == all.size()) [[likely]] {
      attribute.value = value.bytes();
      attribute.is_made = false;
    } else {
      make_text(key_value.message(), attribute);
    }
  }
  void make_text(ProtoReader value, Attribute& attribute);

  std::vector<Attribute> list_;
  std::string made_;  // texts of values that are no strings
};

}  // namespace halite::ingest
