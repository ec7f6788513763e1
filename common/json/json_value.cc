#include "common/json/json_value.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>

namespace halite {
namespace {

namespace json = boost::json;
using Code = boost::system::error_code;

// Nothing unless the whole text is such a number.
template <class Number>
std::optional<Number> read(json::string_view text) {
  Number number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool all = wrong == std::errc() && end == text.data() + text.size();
  return all ? std::optional(number) : std::nullopt;
}

// Builds a value from the events of Boost's parser.
class Builder {
 public:
  // NOLINTBEGIN(readability-identifier-naming): Boost's names
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();
  // NOLINTEND(readability-identifier-naming)

  bool on_document_begin(Code& /*error*/) {
    stack_.reset();
    return true;
  }
  bool on_document_end(Code& /*error*/) { return true; }
  bool on_object_begin(Code& /*error*/) { return true; }
  bool on_object_end(std::size_t size, Code& /*error*/) {
    stack_.push_object(size);
    return true;
  }
  bool on_array_begin(Code& /*error*/) { return true; }
  bool on_array_end(std::size_t size, Code& /*error*/) {
    stack_.push_array(size);
    return true;
  }
  bool on_key_part(json::string_view text, std::size_t /*size*/, Code& /*error*/) {
    stack_.push_chars(text);
    return true;
  }
  bool on_key(json::string_view text, std::size_t /*size*/, Code& /*error*/) {
    stack_.push_key(text);
    return true;
  }
  bool on_string_part(json::string_view text, std::size_t /*size*/, Code& /*error*/) {
    stack_.push_chars(text);
    return true;
  }
  bool on_string(json::string_view text, std::size_t /*size*/, Code& /*error*/) {
    stack_.push_string(text);
    return true;
  }
  bool on_number_part(json::string_view /*text*/, Code& /*error*/) { return true; }
  bool on_int64(std::int64_t value, json::string_view /*text*/, Code& /*error*/) {
    stack_.push_int64(value);
    return true;
  }
  bool on_uint64(std::uint64_t value, json::string_view /*text*/, Code& /*error*/) {
    stack_.push_uint64(value);
    return true;
  }
  // The text is the whole number, because the parser gets the whole document at once.
  bool on_double(double about, json::string_view text, Code& /*error*/) {
    // The parser takes the least integer for a double.
    if (const auto integer = read<std::int64_t>(text)) {
      stack_.push_int64(*integer);
    } else {
      stack_.push_double(read<double>(text).value_or(about));  // overflow: infinity, underflow: 0
    }
    return true;
  }
  bool on_bool(bool value, Code& /*error*/) {
    stack_.push_bool(value);
    return true;
  }
  bool on_null(Code& /*error*/) {
    stack_.push_null();
    return true;
  }
  bool on_comment_part(json::string_view /*text*/, Code& /*error*/) { return true; }
  bool on_comment(json::string_view /*text*/, Code& /*error*/) { return true; }

  json::value take() { return stack_.release(); }

 private:
  json::value_stack stack_;
};

}  // namespace

json::value parse_json_value(std::string_view text, Code& error) {
  json::parse_options options;
  options.max_depth = kJsonValueDepthMax;
  json::basic_parser<Builder> parser(options);
  const std::size_t read = parser.write_some(false, text.data(), text.size(), error);
  if (!error && read < text.size()) error = json::error::extra_data;
  if (error) return nullptr;
  return parser.handler().take();
}

}  // namespace halite
