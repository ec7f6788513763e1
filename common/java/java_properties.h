// A parser for Java's .properties format, which opentsdb.conf uses.
//
//   # comment                 ! comment
//   key = value               key: value          key value
//   long = one, \             a backslash at a line's end joins the next line, without its indent
//     two                     \t \n \r \f \uXXXX and \ before any other character: that character
//
// Text that is not UTF-8 is read as ISO-8859-1, as Java reads all files. Spaces before a value are
// dropped; spaces after it belong to it. Duplicate keys are all returned; the last one counts.
//
//   Errors   kInvalidArgument: a \u without four hex digits, with its line.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace halite {

struct JavaProperty {
  std::string key;
  std::string value;
  std::size_t line = 0;  // where it begins, from 1
};

[[nodiscard]] Result<std::vector<JavaProperty>> parse_java_properties(std::string_view text);

// kNotFound: the file does not exist or cannot be read.
[[nodiscard]] Result<std::vector<JavaProperty>> read_java_properties(const std::string& path);

}  // namespace halite
