// A double's text as Java's Double.toString lays it out, which is what OpenTSDB answers hold:
// "3.0", "123456.789", "1.0E7", "1.0E-4", "-0.0", "NaN", "-Infinity".
//
// The digits are the shortest that read back as the same double. Java before 19 now and then
// prints one digit more than that.
#pragma once

#include <cstddef>
#include <string>

namespace halite {

inline constexpr std::size_t kJavaDoubleBytesMax = 32;

// Writes at most kJavaDoubleBytesMax bytes, no zero behind them; returns where they end.
char* write_java_double(char* to, double value);

void append_java_double(std::string& to, double value);
[[nodiscard]] std::string java_double(double value);

// The same of a float, as Float.toString: "99.9", not "99.9000015258789".
[[nodiscard]] std::string java_float(float value);

}  // namespace halite
