#include "tests/text/log_questions.h"

#include <fmt/format.h>

#include "storage/tsdb/wal/format.h"
#include "storage/tsdb/wal/records.h"
#include "storage/tsdb/wal/segment_scan.h"
#include "tests/text/bytes_text.h"

namespace halite::storage::bytes_text {

namespace {

std::uint64_t whole(std::string_view text) { return static_cast<std::uint64_t>(number(text)); }

std::string without_padding(BytesView bytes) {
  const std::size_t last = bytes.find_last_not_of('\0');
  return to_hex(bytes.substr(0, last == BytesView::npos ? 0 : last + 1));
}

// "ID@POINT", as in "7@1356998400=4.5".
struct SentPoint {
  std::uint32_t id = 0;
  Point point;
};
SentPoint sent_point(std::string_view text) {
  const std::size_t at = text.find('@');
  need(at != std::string_view::npos, "ID@TIME=VALUE");
  return {static_cast<std::uint32_t>(whole(text.substr(0, at))), point(text.substr(at + 1))};
}

Bytes points_section(std::span<const std::string> words) {
  need(!words.empty(), "points SHARD ID@TIME=VALUE...");
  std::vector<std::uint32_t> ids;
  RowPoints columns;
  for (const std::string& word : words.subspan(1)) {
    const SentPoint sent = sent_point(word);
    ids.push_back(sent.id);
    columns.times.push_back(sent.point.time);
    columns.values.push_back(sent.point.value);
    columns.flags.push_back(sent.point.flags);
  }
  Bytes section;
  log_records::append_points(section, {static_cast<std::uint32_t>(whole(words[0])), ids,
                                       columns.times, columns.values, columns.flags});
  return section;
}

class Printer final : public log_records::SectionVisitor {
 public:
  Result<void> name(const log_records::NameRecord& name) override {
    lines.push_back(fmt::format("name kind {} uid {} \"{}\"", name.kind, name.uid, name.name));
    return {};
  }
  Result<void> series(const log_records::SeriesRecord& series) override {
    lines.push_back(
        fmt::format("series {} shard {} tsuid {}", series.id, series.shard, to_hex(series.tsuid)));
    return {};
  }
  Result<void> points(const log_records::PointColumns& points) override {
    std::string line = fmt::format("points shard {}:", points.shard);
    for (std::size_t i = 0; i < points.series.size(); ++i) {
      line += fmt::format(" {}@{}", points.series[i],
                          print(points.times[i], points.values[i], points.flags[i]));
    }
    lines.push_back(line);
    return {};
  }
  std::vector<std::string> lines;
};

std::vector<std::string> sections_of(BytesView payload) {
  Printer printer;
  log_records::SectionReader reader;
  if (const auto read = reader.read(payload, printer); !read)
    printer.lines.push_back("error: " + read.error().message);
  return printer.lines;
}

}  // namespace

LogQuestions::Lines LogQuestions::segment(Words words) {
  need(words.size() == 3, "log segment SALT NUMBER AFTER");
  salt_ = whole(words[0]);
  number_ = whole(words[1]);
  segment_ = log_format::segment_page({salt_, number_, whole(words[2])});
  return {"file " + log_format::segment_name(number_), "header " + without_padding(segment_)};
}

LogQuestions::Lines LogQuestions::group(Words words, std::uint64_t number) {
  need(words.size() >= 2, "log group SYNCED FIRST PAYLOAD...");
  const std::uint64_t first = whole(words[1]);
  Bytes bytes;
  log_format::begin_group(bytes);
  std::uint32_t records = 0;
  for (const std::string& payload : words.subspan(2)) {
    log_format::append_record(bytes, first + records++, hex(payload));
  }
  log_format::seal_group(bytes, whole(words[0]), first, records,
                         log_format::SegmentKey(salt_, number), segment_.size());
  const Lines lines = {
      fmt::format("at {}: {}", segment_.size(), without_padding(bytes)),
  };
  segment_ += bytes;
  return lines;
}

LogQuestions::Lines LogQuestions::read() const {
  const auto head =
      log_format::read_segment_page(BytesView(segment_).substr(0, log_format::kPageBytes));
  if (!head) return {"error: " + head.error().message};
  Lines lines = {fmt::format("segment {} after {}", head->number, head->after)};
  const auto scan = log_format::scan_segment(
      segment_, log_format::SegmentKey(head->salt, head->number), head->after + 1);
  for (const auto& record : scan.records) {
    lines.push_back(
        fmt::format("{} at {}: {}", record.sequence, record.offset, to_hex(record.payload)));
  }
  lines.push_back(fmt::format("synced up to {}", scan.synced_upto));
  return lines;
}

LogQuestions::Lines LogQuestions::answer(Words words) {
  need(!words.empty(), "log WHAT");
  const std::string& what = words[0];
  const Words rest = words.subspan(1);
  if (what == "segment") return segment(rest);
  if (what == "group") return group(rest, number_);
  if (what == "stale") {
    need(!rest.empty(), "log stale NUMBER SYNCED FIRST PAYLOAD...");
    return group(rest.subspan(1), whole(rest[0]));
  }
  if (what == "damage") {
    need(rest.size() == 1 && whole(rest[0]) < segment_.size(), "log damage OFFSET");
    char& byte = segment_[whole(rest[0])];
    byte = static_cast<char>(byte ^ 0x40);
    return {};
  }
  if (what == "read") return read();
  if (what == "sections") {
    need(rest.size() == 1, "log sections PAYLOAD");
    return sections_of(hex(rest[0]));
  }
  Bytes section;
  if (what == "points") section = points_section(rest);
  if (what == "name" && rest.size() == 3) {
    log_records::append_name(section,
                             {static_cast<std::uint8_t>(whole(rest[0])), whole(rest[1]), rest[2]});
  }
  if (what == "series" && rest.size() == 3) {
    log_records::append_series(section, {static_cast<std::uint32_t>(whole(rest[0])),
                                         static_cast<std::uint32_t>(whole(rest[1])), hex(rest[2])});
  }
  need(!section.empty(), "log what? bytes_test.cc has the list");
  Lines lines = {to_hex(section)};
  for (std::string& line : sections_of(section)) lines.push_back(std::move(line));
  return lines;
}

}  // namespace halite::storage::bytes_text
