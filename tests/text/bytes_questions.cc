#include "tests/text/bytes_questions.h"

#include <stdexcept>

#include <fmt/format.h>

#include "storage/backends/rocks/cell.h"
#include "storage/backends/rocks/key.h"
#include "storage/catalog/names/name_bytes.h"
#include "storage/cells/layouts/annotation_cell.h"
#include "storage/cells/layouts/column.h"
#include "storage/cells/layouts/rollup_cell.h"
#include "storage/cells/layouts/salt.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/cells/layouts/values/histogram_cell.h"

namespace halite::storage::bytes_text {
namespace {

Lines error(const Error& error) {
  return {fmt::format("error ({}): {}", errc_name(error.code), error.message)};
}

// "600s/1h", "1h/1d", "1d/1y": seconds of an interval and the row's span.
RollupInterval interval(std::string_view text) {
  const std::size_t slash = text.find('/');
  need(slash != std::string_view::npos && text.size() >= slash + 3, "INTERVAL/SPAN");
  RollupInterval interval;
  interval.seconds = duration_ms(text.substr(0, slash)) / 1000;
  const std::string_view span = text.substr(slash + 1);
  interval.hours = static_cast<std::uint32_t>(number(span.substr(0, span.size() - 1)));
  switch (span.back()) {
    case 'h':
      interval.span = RollupSpan::kHours;
      break;
    case 'd':
      interval.span = RollupSpan::kDay;
      break;
    case 'n':
      interval.span = RollupSpan::kMonth;
      break;
    case 'y':
      interval.span = RollupSpan::kYear;
      break;
    default:
      throw std::runtime_error("a span is in h, d, n or y");
  }
  return interval;
}

std::vector<UidPair> pairs(Words words) {
  std::vector<UidPair> pairs;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    need(equals != std::string::npos, "KEY=VALUE");
    pairs.push_back({static_cast<std::uint64_t>(number(word.substr(0, equals))),
                     static_cast<std::uint64_t>(number(word.substr(equals + 1)))});
  }
  return pairs;
}

// Hex, where '-' stands for no bytes at all.
Bytes hex_or_none(std::string_view text) { return text == "-" ? Bytes() : hex(text); }
std::string hex_or_none_of(BytesView bytes) { return bytes.empty() ? "-" : to_hex(bytes); }

Lines rocks_cell(Words words) {
  need(words.size() == 4, "rocks ROW QUALIFIER TIME VALUE");
  Bytes stored(rocks::kCellTimeBytes, '\0');
  stored += hex_or_none(words[3]);
  rocks::set_cell_time(stored.data(), number(words[2]));
  return {"key " + to_hex(rocks::cell_key(hex(words[0]), hex_or_none(words[1]))),
          "value " + to_hex(stored)};
}

Lines unrocks_cell(Words words) {
  need(words.size() == 2, "unrocks KEY VALUE");
  const Bytes key = hex_or_none(words[0]);
  const std::size_t prefix = rocks::row_prefix_size(key).value_or(key.size());
  const Result<Bytes> row = rocks::row_of_prefix(BytesView(key).substr(0, prefix));
  if (!row) return error(row.error());
  const Bytes stored = hex_or_none(words[1]);
  const auto cell = rocks::parse_cell_of(key, stored);
  if (!cell) return error(cell.error());
  return {fmt::format("row {} qualifier {} time {} value {}", to_hex(*row),
                      hex_or_none_of(key.substr(prefix)), cell->time, hex_or_none_of(cell->value))};
}

// "utf8", "opentsdb", "mixed"; then UTF-8, or "x:" and hex.
NameBytes name_form(std::string_view form) {
  if (form == "utf8") return NameBytes(NameForm::kUtf8);
  if (form == "opentsdb") return NameBytes(NameForm::kOpentsdb);
  need(form == "mixed", "a form of names is utf8, opentsdb or mixed");
  return NameBytes(NameForm::kMixed);
}

std::string name_text(const std::string& word) {
  return word.starts_with("x:") ? hex(word.substr(2)) : word;
}

Lines name_bytes(Words words) {
  need(words.size() == 2, "name FORM NAME");
  const NameBytes form = name_form(words[0]);
  const std::string name = name_text(words[1]);
  Lines lines = {to_hex(form.of(name))};
  if (const auto earlier = form.earlier(name)) lines.push_back("earlier " + to_hex(*earlier));
  if (form.name(form.of(name)) != name) lines.push_back("reads " + form.name(form.of(name)));
  return lines;
}

Lines unname_bytes(Words words) {
  need(words.size() == 2, "unname FORM HEX");
  return {name_form(words[0]).name(hex(words[1]))};
}

Lines name_ranges(Words words) {
  need(words.size() == 2, "prefix FORM PREFIX");
  Lines lines;
  for (const KeyRange& range : name_form(words[0]).ranges(name_text(words[1]))) {
    lines.push_back(hex_or_none_of(range.begin) + " to " + hex_or_none_of(range.end));
  }
  return lines;
}

TimestampMs hour_of(TimestampMs time) { return time - time % kRowMs; }

}  // namespace

Lines Questions::answer(std::string_view line) {
  const std::vector<std::string> all = words_of(line);
  const std::string& verb = all.front();
  const Words words = Words(all).subspan(1);
  if (verb == "layout") return layout(words);
  if (verb == "rocks") return rocks_cell(words);
  if (verb == "unrocks") return unrocks_cell(words);
  if (verb == "log") return log_.answer(words);
  if (verb == "name") return name_bytes(words);
  if (verb == "unname") return unname_bytes(words);
  if (verb == "prefix") return name_ranges(words);
  need(layouts_.any() != nullptr, "the file begins with a layout");
  const RowLayout& any = *layouts_.any();
  if (verb == "now") {
    now_ = time_ms(words[0]);
    return {};
  }
  if (verb == "parameters") {
    const auto& parameters =
        layouts_.cyclic ? layouts_.cyclic->parameters() : layouts_.opentsdb->parameters();
    return {parameters.to_bytes()};
  }
  if (verb == "tsuid") {
    return {to_hex(make_tsuid(any.widths(), static_cast<std::uint64_t>(number(words[0])),
                              pairs(words.subspan(1))))};
  }
  if (verb == "salt") return {fmt::format("{}", any.salt_of(hex(words[0])))};
  if (verb == "admit") {
    const auto admitted = any.admit(time_ms(words[0]), now_);
    return admitted ? Lines{"yes"} : error(admitted.error());
  }
  if (verb == "histogram") {
    const Point at = point(words[0] + "=0");
    return {to_hex(histogram_qualifier(at.time, (at.flags & kMillis) != 0))};
  }
  if (verb == "put") return put(words);
  if (verb == "compact") return compact(words);
  if (verb == "append") return append(words);
  if (verb == "row") return row(words);
  if (verb == "read") return read(words);
  if (verb == "metric") return metric(words);
  if (verb == "series") return series(words);
  if (verb == "annotation") return annotation(words);
  if (verb == "unhistogram") return unhistogram(words);
  if (verb == "rollup") return rollup(words);
  if (verb == "unrollup") return unrollup(words);
  throw std::runtime_error("no such question: " + verb);
}

const OpentsdbLayout& Questions::opentsdb() const {
  need(layouts_.opentsdb != nullptr, "this question is for layout opentsdb");
  return *layouts_.opentsdb;
}

Lines Questions::place(BytesView row, const PointCell& cell) const {
  return {
      fmt::format("row {}", print_row(layouts_, row)),
      fmt::format("cell {} = {}", print_qualifier(layouts_, cell.qualifier), to_hex(cell.value))};
}

Lines Questions::layout(Words words) {
  auto made = make_layouts(words);
  if (!made) return error(made.error());
  layouts_ = *std::move(made);
  return {};
}

Lines Questions::put(Words words) const {
  need(words.size() == 2, "put TSUID POINT");
  const Point at = point(words[1]);
  return place(layouts_.any()->row_key(hex(words[0]), at.time),
               layouts_.any()->point_cell(at.time, at.value, at.flags));
}

Lines Questions::compact(Words words) const {
  need(words.size() >= 2, "compact TSUID POINT...");
  const RowPoints all = columns(points(words.subspan(1)));
  return place(opentsdb().row_key(hex(words[0]), all.times.front()),
               compacted_cell(hour_of(all.times.front()), all.times, all.values, all.flags));
}

Lines Questions::append(Words words) const {
  need(words.size() >= 2, "append TSUID POINT...");
  const std::vector<Point> all = points(words.subspan(1));
  PointCell cell{Bytes(kAppendQualifier), {}};
  for (const Point& at : all) {
    append_entry(cell.value, hour_of(all.front().time), at.time, at.value, at.flags);
  }
  return place(opentsdb().row_key(hex(words[0]), all.front().time), cell);
}

Lines Questions::row(Words words) const {
  const auto row = layouts_.any()->parse_row(hex(words[0]));
  if (!row) return error(row.error());
  return {fmt::format("salt {} bucket {} tsuid {}", row->salt, row->bucket, to_hex(row->tsuid))};
}

Lines Questions::read(Words words) const {
  need(!words.empty(), "read ROW CELL...");
  TimeRange range{0, TimestampMs{1} << 60};
  if (words.size() > 2 && words[words.size() - 2] == "in") {
    range = time_range(words.back());
    words = words.first(words.size() - 2);
  }
  const auto row = layouts_.any()->parse_row(hex(words[0]));
  if (!row) return error(row.error());
  std::vector<Cell> cells;
  for (const std::string& word : words.subspan(1)) cells.push_back(cell(word));
  RowPoints found;
  const auto decoded = layouts_.any()->decode(*row, as_refs(cells), range, found);
  if (!decoded) return error(decoded.error());
  Lines lines;
  for (std::size_t i = 0; i < found.times.size(); ++i) {
    lines.push_back(print(found.times[i], found.values[i], found.flags[i]));
  }
  return lines.empty() ? Lines{"no points"} : lines;
}

Lines Questions::metric(Words words) const {
  need(words.size() == 3, "metric UID SALT FROM..TO");
  return scans(layouts_.any()->metric_buckets(hex(words[0]), time_range(words[2]),
                                              static_cast<std::uint32_t>(number(words[1])), now_));
}

Lines Questions::series(Words words) const {
  need(words.size() == 2, "series TSUID FROM..TO");
  return scans(layouts_.any()->series_buckets(hex(words[0]), time_range(words[1]), now_));
}

Lines Questions::scans(const std::vector<BucketScan>& scans) const {
  Lines lines;
  for (const BucketScan& scan : scans) {
    std::string line = fmt::format("{} to {}", print_row(layouts_, scan.keys.begin),
                                   print_row(layouts_, scan.keys.end));
    if (!scan.qualifier_begin.empty()) {
      line += fmt::format(" cells {} to {}", print_qualifier(layouts_, scan.qualifier_begin),
                          print_qualifier(layouts_, scan.qualifier_end));
    }
    lines.push_back(line + fmt::format(" times {}..{}", scan.times.begin, scan.times.end));
  }
  return lines.empty() ? Lines{"no scans"} : lines;
}

Lines Questions::annotation(Words words) const {
  need(words.size() == 2, "annotation TSUID|global START");
  const Bytes tsuid = words[0] == "global" ? Bytes() : hex(words[0]);
  const auto at = annotation_key(opentsdb(), tsuid, number(words[1]));
  if (!at) return error(at.error());
  return {fmt::format("row {}", print_row(layouts_, at->row)),
          fmt::format("qualifier {}", to_hex(at->qualifier))};
}

Lines Questions::unhistogram(Words words) const {
  const Cell one = cell(words[0]);
  const auto histogram = read_histogram(one.qualifier, one.value);
  if (!histogram) return {"no histogram"};
  return {fmt::format("offset {}ms, written in {}, codec {}, payload [{}]", histogram->offset_ms,
                      histogram->millis ? "ms" : "s", histogram->codec,
                      to_hex(histogram->payload))};
}

Lines Questions::rollup(Words words) const {
  need(words.size() == 4, "rollup INTERVAL/SPAN ID TSUID POINT");
  const RollupInterval rows = interval(words[0]);
  const auto checked = check_rollup(rows);
  if (!checked) return error(checked.error());
  const Point at = point(words[3]);
  const auto rolled = rollup_cell(opentsdb(), rows, static_cast<std::uint8_t>(number(words[1])),
                                  hex(words[2]), at.time / 1000, at.value, at.flags);
  return rolled ? place(rolled->row, rolled->cell) : error(rolled.error());
}

Lines Questions::unrollup(Words words) const {
  need(words.size() == 3, "unrollup INTERVAL/SPAN BASE CELL");
  const Cell one = cell(words[2]);
  const auto read = read_rollup(interval(words[0]), number(words[1]), one.qualifier, one.value);
  if (!read) return {"no rollup"};
  const std::uint8_t* id = std::get_if<std::uint8_t>(&read->aggregator);
  const std::string who =
      id != nullptr ? std::to_string(*id) : std::string(std::get<1>(read->aggregator));
  return {
      fmt::format("{} {}", who, print(read->time_s * 1000, read->value.bits, read->value.flags))};
}

}  // namespace halite::storage::bytes_text
