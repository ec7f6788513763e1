// The text of a double in the format of Java's Double.toString, which OpenTSDB's answers contain:
// "3.0", "123456.789", "1.0E7", "1.0E-4", "-0.0", "NaN", "-Infinity".
//
// The digits are the shortest that parse to an equal double. Java before 19 sometimes prints one
// digit more.
#pragma once

#include <cstddef>
#include <string>

namespace halite {

inline constexpr std::size_t kJavaDoubleBytesMax = 32;

// Writes at most kJavaDoubleBytesMax bytes, without a terminating zero. Returns the end.
char* write_java_double(char* to, double value);

void append_java_double(std::string& to, double value);
[[nodiscard]] std::string java_double(double value);

// Float.toString of a float: "99.9", not "99.9000015258789".
[[nodiscard]] std::string java_float(float value);

}  // namespace halite
