#include "ingest/telnet/line_round.h"

#include <span>

#include <fmt/format.h>

namespace halite::ingest {

LineRound::LineRound(WriterContext& context, std::string_view command, std::size_t points_expected)
    : context_(context),
      command_(command),
      ingest_batch_(context.store.pin_series()),
      reader_(context.cache.reader(ingest_batch_.pin())),
      fast_(command) {
  ingest_batch_.reserve(points_expected);
}

void LineRound::add(std::string_view line) {
  ++lines_;
  PutPieces pieces;
  const bool usual = command_.empty() ? split_point_words(without_return(line), pieces)
                                      : split_put_line(line, pieces, command_);
  if (usual) {
    add_to_group(pieces);
  } else {
    resolve();
    add_unusual(line, command_);
  }
}

void LineRound::add_completely(std::string_view line, std::string_view command) {
  ++lines_;
  resolve();
  add_unusual(line, command);
}

LineRound::FastPathResult LineRound::add_fast_path(std::string_view text,
                                                   std::size_t line_bytes_max,
                                                   std::size_t points_max) {
  FastPathResult taken;
  if (group_.count > 0) {
    if (tried_) return taken;
    resolve();
    tried_ = true;
  }
  reader_.refresh();
  while (points() < points_max) {
    const std::size_t bytes = fast_.take(text, line_bytes_max, reader_);
    if (bytes == 0) break;
    text.remove_prefix(bytes);
    taken.bytes += bytes;
    ++taken.lines;
    ingest_batch_.add(fast_.id(), fast_.point(), ++lines_);
  }
  hits_ += taken.lines;
  if (taken.lines > 0) tried_ = false;
  return taken;
}

void LineRound::add_to_group(const PutPieces& pieces) {
  const char* text = pieces.metric.data();
  const auto tags_at = static_cast<std::size_t>(pieces.tags.data() - text);
  const std::size_t size = tags_at + pieces.tags.size();
  if (!group_.has_room(size)) resolve();
  const bool copied = group_.has_room(size);
  if (copied) text = group_.keep({text, size});
  LineGroup::Line& line = group_.lines[group_.count++];
  line.key = {.grammar = KeyGrammar::kPutLine,
              .metric = {text, pieces.metric.size()},
              .tags = {text + tags_at, pieces.tags.size()}};
  line.hash = context_.cache.hash(line.key);
  line.point = {.time = pieces.time, .value = pieces.value, .flags = pieces.flags};
  line.origin = lines_;
  reader_.prefetch_slot(line.hash);
  if (group_.full() || !copied) resolve();
}

void LineRound::resolve() {
  if (group_.count == 0) return;
  reader_.refresh();
  const auto lines = std::span(group_.lines).first(group_.count);
  for (const LineGroup::Line& line : lines) reader_.prefetch_entry(line.hash);
  for (const LineGroup::Line& line : lines) reader_.prefetch_text(line.key, line.hash);
  tried_ = false;
  for (const LineGroup::Line& line : lines) {
    if (const auto id = reader_.find_in_order(line.key, line.hash)) {
      ++hits_;
      ingest_batch_.add(*id, line.point, line.origin);
    } else {
      add_missing(line);
    }
  }
  group_.clear();
}

void LineRound::add_missing(const LineGroup::Line& line) {
  ++misses_;
  if (const auto waiting = ingest_batch_.find_waiting(line.key, line.hash)) {
    return ingest_batch_.add(*waiting, line.point, line.origin);
  }
  auto series = parse_put_series(line.key.metric, line.key.tags, context_.rules);
  if (series) {
    const auto waiting = ingest_batch_.add_waiting(line.key, line.hash, *std::move(series));
    ingest_batch_.add(waiting, line.point, line.origin);
  } else {
    refuse(line.origin, std::move(series).error(),
           fmt::format("{}{}{}", command_, command_.empty() ? "" : " ", line.text()));
  }
}

void LineRound::add_unusual(std::string_view line, std::string_view command) {
  auto point = command.empty() ? parse_point_words(without_return(line), context_.rules)
                               : parse_put_line(line, context_.rules, command);
  if (point) {
    ++misses_;
    context_.add_named(ingest_batch_, reader_, *std::move(point), lines_);
  } else {
    refuse(lines_, std::move(point).error(), line);
  }
}

void LineRound::refuse(std::uint32_t origin, Refused why, std::string_view point) {
  context_.stats.refused(Protocol::kTelnet, why, point);
  refused_.push_back({.origin = origin, .why = std::move(why)});
}

}  // namespace halite::ingest
