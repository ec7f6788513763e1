// The words of .bytes files: numbers, hex, points, layouts, and how answers print them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::storage::bytes_text {

// A point as a file writes it: "1356998430=300", "1356998400500=4.5w", "1356998400=bits:7FF8...".
// From 2^32 on a time is in milliseconds. 'w' asks for 8 bytes; bits: gives a double's.
struct Point {
  TimestampMs time = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;  // PointFlag bits
};

struct Layouts {
  std::unique_ptr<OpentsdbLayout> opentsdb;  // one of the two, or neither
  std::unique_ptr<CyclicLayout> cyclic;
  [[nodiscard]] const RowLayout* any() const {
    if (opentsdb) return opentsdb.get();
    return cyclic.get();
  }
};

// What a file says wrongly ends its test: these throw std::runtime_error.
void need(bool condition, std::string_view what);
[[nodiscard]] std::vector<std::string> words_of(std::string_view line);
[[nodiscard]] std::int64_t number(std::string_view text);
[[nodiscard]] Bytes hex(std::string_view text);  // dots between the fields are skipped
[[nodiscard]] std::int64_t duration_ms(std::string_view text);  // "30d", "1h", "500ms"
[[nodiscard]] TimestampMs time_ms(std::string_view text);
[[nodiscard]] TimeRange time_range(std::string_view text);  // "BEGIN..END"
[[nodiscard]] Point point(std::string_view text);
[[nodiscard]] Cell cell(std::string_view text);  // "QUALIFIER=VALUE[@CELLTIME]"
[[nodiscard]] std::vector<Point> points(std::span<const std::string> texts);
[[nodiscard]] RowPoints columns(std::span<const Point> points);

// The words after "layout"; the error is the layout's own.
[[nodiscard]] Result<Layouts> make_layouts(std::span<const std::string> words);

[[nodiscard]] std::string print(TimestampMs time, ValueBits value, std::uint8_t flags);
// With dots between the fields.
[[nodiscard]] std::string print_row(const Layouts& layouts, BytesView row);
[[nodiscard]] std::string print_qualifier(const Layouts& layouts, BytesView qualifier);

}  // namespace halite::storage::bytes_text
