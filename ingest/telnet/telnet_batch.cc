#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ingest/telnet/fast_line_parser.h"
#include "ingest/telnet/put_line.h"
#include "ingest/writer_impl.h"

namespace halite::ingest {
namespace {

// The answer to a line, held back until the answers to earlier lines are known.
struct HeldAnswer {
  std::uint32_t origin = 0;
  std::string text;
};

TelnetWords words_of(const IngestOptions& options) {
  return {.command = options.telnet_command, .opentsdb = options.opentsdb_words};
}

// Both lists are in line order, and so is the result.
void append_answers(const std::vector<HeldAnswer>& held, const std::vector<BatchRefusal>& refused,
                    const IngestOptions& options, std::string& replies) {
  const TelnetWords words = words_of(options);
  auto next = held.begin();
  for (const BatchRefusal& refusal : refused) {
    for (; next != held.end() && next->origin < refusal.origin; ++next) replies += next->text;
    if (options.telnet_storage_errors || !is_storage_error(refusal.why.reason)) {
      replies += telnet_refusal(refusal.why, words);
    }
  }
  for (; next != held.end(); ++next) replies += next->text;
}

// Lines that are looked up together, so that their cache misses overlap.
struct LineGroup {
  struct Line {
    // The raw text from the metric on: timestamp and value are between the two pieces.
    [[nodiscard]] std::string_view text() const {
      const char* const end = key.tags.data() + key.tags.size();
      return {key.metric.data(), static_cast<std::size_t>(end - key.metric.data())};
    }

    SeriesKey key;  // pieces of one text, in `bytes` or in an oversized line
    std::uint64_t hash;
    PointBits point;
    std::uint32_t origin;
  };

  [[nodiscard]] bool full() const { return count == lines.size(); }
  [[nodiscard]] bool has_room(std::size_t size) const { return size <= bytes.size() - used; }

  const char* keep(std::string_view text) {
    char* const place = bytes.data() + used;
    std::memcpy(place, text.data(), text.size());
    used += text.size();
    return place;
  }
  void clear() {
    count = 0;
    used = 0;
  }

  std::size_t count = 0;
  std::size_t used = 0;
  std::array<Line, 32> lines;
  std::array<char, 16 << 10> bytes;
};

// Lives from the first line to the flush: an idle connection has none and needs no memory for it.
class Round {
 public:
  Round(WriterContext& context, std::size_t points_expected)
      : context_(context),
        ingest_batch_(context.store.pin_series()),
        reader_(context.cache.reader(ingest_batch_.pin())) {
    ingest_batch_.reserve(points_expected);
  }

  void add(std::string_view line, std::string& replies);
  TelnetBatch::FastPathResult add_fast_path(std::string_view text, std::size_t line_bytes_max,
                                            std::size_t points_max, std::string& replies);
  void resolve(std::string& replies);

  [[nodiscard]] std::size_t points() const { return group_.count + ingest_batch_.points(); }
  [[nodiscard]] std::size_t waiting_bytes() const { return ingest_batch_.waiting_bytes(); }
  // Call it once, after resolve().
  [[nodiscard]] IngestBatch take_batch() { return std::move(ingest_batch_); }
  [[nodiscard]] std::vector<HeldAnswer> take_answers() { return std::move(answers_); }
  void count_lookups() const { context_.stats.looked_up(hits_, misses_); }

 private:
  void add_fast_path(const PutPieces& pieces, std::string& replies);
  void add_missing(const LineGroup::Line& line, std::string& replies);
  void add_completely(std::string_view line, std::string& replies);
  void refuse(std::uint32_t origin, const Refused& why, std::string_view point,
              std::string& replies);

  WriterContext& context_;
  IngestBatch ingest_batch_;
  SeriesCache::Reader reader_;
  std::uint32_t lines_ = 0;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
  std::vector<HeldAnswer> answers_;
  // Whether the previous line was looked up in order, so that the next can be predicted.
  bool tried_ = false;
  FastLineParser fast_{context_.options.telnet_command};
  LineGroup group_;
};

void Round::add(std::string_view line, std::string& replies) {
  ++lines_;
  PutPieces pieces;
  if (split_put_line(line, pieces, context_.options.telnet_command)) {
    add_fast_path(pieces, replies);
  } else {
    resolve(replies);
    add_completely(line, replies);
  }
}

// An unexpected line is looked up alone, so that the next one can be predicted again. After a
// second one, lines are looked up in groups for a while.
TelnetBatch::FastPathResult Round::add_fast_path(std::string_view text, std::size_t line_bytes_max,
                                                 std::size_t points_max, std::string& replies) {
  TelnetBatch::FastPathResult taken;
  if (group_.count > 0) {
    if (tried_) return taken;
    resolve(replies);
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

void Round::add_fast_path(const PutPieces& pieces, std::string& replies) {
  const char* text = pieces.metric.data();
  const auto tags_at = static_cast<std::size_t>(pieces.tags.data() - text);
  const std::size_t size = tags_at + pieces.tags.size();
  if (!group_.has_room(size)) resolve(replies);
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
  if (group_.full() || !copied) resolve(replies);
}

void Round::resolve(std::string& replies) {
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
      add_missing(line, replies);
    }
  }
  group_.clear();
}

void Round::add_missing(const LineGroup::Line& line, std::string& replies) {
  ++misses_;
  if (ingest_batch_.add_if_waiting(line.key, line.hash, line.point, line.origin)) return;
  auto series = parse_put_series(line.key.metric, line.key.tags, context_.rules);
  if (series) {
    ingest_batch_.add_waiting(line.key, line.hash, *std::move(series), line.point, line.origin);
  } else {
    refuse(line.origin, series.error(),
           fmt::format("{} {}", context_.options.telnet_command, line.text()), replies);
  }
}

void Round::add_completely(std::string_view line, std::string& replies) {
  auto point = parse_put_line(line, context_.rules, context_.options.telnet_command);
  if (point) {
    ++misses_;
    context_.add_named(ingest_batch_, reader_, *std::move(point), lines_);
  } else {
    refuse(lines_, point.error(), line, replies);
  }
}

void Round::refuse(std::uint32_t origin, const Refused& why, std::string_view point,
                   std::string& replies) {
  context_.stats.refused(Protocol::kTelnet, why, point);
  std::string text = telnet_refusal(why, {.command = context_.options.telnet_command});
  if (ingest_batch_.waiting().empty()) {
    replies += text;
  } else {
    answers_.push_back({.origin = origin, .text = std::move(text)});
  }
}

}  // namespace

struct TelnetBatch::Impl {
  WriterContext& context;
  std::unique_ptr<Round> round;
  std::size_t points_before = 0;  // in the previous round: the next is often as large
};

TelnetBatch::TelnetBatch(Writer& writer) : impl_(std::make_unique<Impl>(writer.impl_->context)) {}

TelnetBatch::~TelnetBatch() = default;

void TelnetBatch::add(std::string_view line, std::string& replies) {
  Impl& impl = *impl_;
  if (!impl.round) impl.round = std::make_unique<Round>(impl.context, impl.points_before);
  impl.round->add(line, replies);
}

TelnetBatch::FastPathResult TelnetBatch::add_fast_path(std::string_view text,
                                                       std::size_t line_bytes_max,
                                                       std::string& replies) {
  // The first line of a round needs a look-up: its predecessor is unknown.
  if (!impl_->round) return {};
  return impl_->round->add_fast_path(
      text, line_bytes_max, impl_->context.options.limits.telnet_batch_points_max, replies);
}

std::size_t TelnetBatch::points() const { return impl_->round ? impl_->round->points() : 0; }

bool TelnetBatch::full() const {
  if (!impl_->round) return false;
  const IngestLimits& limits = impl_->context.options.limits;
  return points() >= limits.telnet_batch_points_max ||
         impl_->round->waiting_bytes() >= limits.telnet_batch_bytes_max;
}

Task<TelnetBatch::Flushed> TelnetBatch::flush(std::string& replies) {
  if (!impl_->round) co_return Flushed();
  WriterContext& context = impl_->context;
  impl_->round->resolve(replies);
  impl_->round->count_lookups();
  const std::size_t points = impl_->round->points();
  const std::vector<HeldAnswer> held = impl_->round->take_answers();
  IngestBatch ingest_batch = impl_->round->take_batch();
  impl_->points_before = points;
  impl_->round.reset();  // releases its halves of the cache before waiting for the store
  CO_TRY(CommitResult committed,
         co_await context.commit(std::move(ingest_batch), Protocol::kTelnet));
  append_answers(held, committed.refused, context.options, replies);
  if (committed.failed && context.options.telnet_storage_errors) {
    replies += telnet_not_stored(refused_by_store(*committed.failed), committed.not_taken,
                                 words_of(context.options));
  }
  std::optional<Error> retryable_error = retryable_error_of(committed);
  co_return Flushed{.points = committed.taken,
                    .durable = std::move(committed.durable),
                    .retryable_error = std::move(retryable_error)};
}

Task<void> TelnetBatch::await_durable(Flushed flushed, std::string& replies) {
  WriterContext& context = impl_->context;
  if (!flushed.durable.finished()) context.store.request_sync();
  Result<void> settled =
      co_await context.await_durable(flushed.durable, Protocol::kTelnet, flushed.points);
  if (!settled && settled.error().code == Errc::kInvalidArgument) {
    // Increments that were refused when they were written. The others are stored.
    replies += telnet_refusal(illegal(settled.error().message).error(), words_of(context.options));
  } else if (!settled && context.options.telnet_storage_errors) {
    replies += telnet_may_be_stored(settled.error(), flushed.points, words_of(context.options));
  }
  co_return settled;
}

}  // namespace halite::ingest
