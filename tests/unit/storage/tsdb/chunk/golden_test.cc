// Bytes of chunks and summaries that were written once must read the same for ever:
// tests/text/bytes/chunk/*.bytes. A line in the first column has the bytes, the indented ones what
// they say; HALITE_UPDATE=1 writes these anew: read that diff like code. New codecs get new lines,
// old lines stay.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/bytes/crc32c.h"
#include "storage/tsdb/chunk/chunk.h"
#include "storage/tsdb/chunk/summary.h"

namespace halite::storage::chunk {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

constexpr std::size_t kPrintedPoints = 12;  // of longer runs only a digest

std::string print_value(ValueBits value, bool is_float) {
  if (!is_float) return fmt::format("{}", as_integer(value));
  return fmt::format("{} (double {:016X})", as_double(value), value);
}

std::string digest(const Points& points) {
  Bytes bytes;
  for (std::size_t i = 0; i < points.size(); ++i) {
    append_be(bytes, static_cast<std::uint64_t>(points.times[i]));
    append_be(bytes, points.values[i]);
    bytes.push_back(points.floats[i] ? 1 : 0);
  }
  return fmt::format("{:08X}", crc32c(bytes));
}

Lines read_chunk(BytesView bytes) {
  Lines lines;
  Decoder decoder;
  Points points;
  if (const auto done = decoder.decode(bytes, points); !done) return {"  " + done.error().message};
  const auto header = read_header(bytes);
  if (!header) return {"  " + header.error().message};
  lines.push_back(fmt::format("  {} points from {} to {}, digest {}", header->count,
                              header->first_time, header->last_time, digest(points)));
  if (header->last) {
    lines.push_back("  last " + print_value(header->last->value, header->last->is_float));
  }
  if (const auto& statistics = header->statistics) {
    lines.push_back(fmt::format("  sum {}{} min {} max {}", statistics->sum,
                                statistics->sum_exact ? " (exact)" : "", statistics->min,
                                statistics->max));
  }
  for (std::size_t i = 0; i < points.size() && points.size() <= kPrintedPoints; ++i) {
    lines.push_back(
        fmt::format("  {} = {}", points.times[i], print_value(points.values[i], points.floats[i])));
  }
  return lines;
}

Lines read_summaries(BytesView bytes) {
  const auto made = decode_summaries(bytes);
  if (!made) return {"  " + made.error().message};
  Lines lines = {fmt::format("  spans of {} ms", made->span_ms)};
  for (const SpanSummary& span : made->spans) {
    lines.push_back(span.decode_only
                        ? fmt::format("  {}: {} points, to be decoded", span.begin, span.count)
                        : fmt::format("  {}: {} points, sum {}{} min {} max {}", span.begin,
                                      span.count, span.sum, span.sum_exact ? " (exact)" : "",
                                      span.min, span.max));
  }
  return lines;
}

Lines answered(const fs::path& path) {
  std::ifstream in(path);
  Lines out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("  ")) continue;
    out.push_back(line);
    const std::size_t space = line.find(' ');
    if (line.starts_with("#") || space == std::string::npos) continue;
    const auto bytes = from_hex(std::string_view(line).substr(space + 1));
    if (!bytes) {
      ADD_FAILURE() << "no hex: " << line;
      continue;
    }
    const bool is_chunk = line.starts_with("chunk ");
    EXPECT_TRUE(is_chunk || line.starts_with("summaries ")) << line;
    for (std::string& answer : is_chunk ? read_chunk(*bytes) : read_summaries(*bytes)) {
      out.push_back(std::move(answer));
    }
  }
  return out;
}

TEST(Golden, EveryVersionReads) {
  std::size_t files = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(HALITE_SOURCE_DIR) / "tests/text/bytes/chunk")) {
    if (entry.path().extension() != ".bytes") continue;
    ++files;
    std::ifstream in(entry.path());
    Lines lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    const Lines wanted = answered(entry.path());
    if (lines == wanted) continue;
    if (std::getenv("HALITE_UPDATE") != nullptr) {
      std::ofstream to(entry.path());
      for (const std::string& line : wanted) to << line << '\n';
      continue;
    }
    EXPECT_EQ(lines, wanted) << entry.path();
  }
  EXPECT_GE(files, 2u);
}

}  // namespace
}  // namespace halite::storage::chunk
