#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "ingest/put_line.h"
#include "ingest/writer_impl.h"

namespace halite::ingest {
namespace {

// Lines that are looked up together, so that their waits for memory overlap.
constexpr std::size_t kGroup = 32;
// Their metrics and tags, side by side. A line that does not fit is looked up alone.
constexpr std::size_t kGroupBytes = 16 << 10;

bool is_storage_error(RefusalReason reason) {
  return reason == RefusalReason::kStorage || reason == RefusalReason::kThrottled ||
         reason == RefusalReason::kTimeout;
}

}  // namespace

struct TelnetBatch::Impl {
  struct Staged {
    SeriesKey key;  // into `bytes`
    std::uint64_t hash = 0;
    PointBits point;
    std::uint32_t origin = 0;
  };
  struct Answer {
    std::uint32_t origin = 0;
    std::string line;
  };

  explicit Impl(WriterCore& core_in) : core(core_in) {}

  SeriesCache::Reader& ready_reader();
  void stage(SeriesKey key, const PutPieces& pieces);
  void add_usual(const PutPieces& pieces, std::string& replies);
  void settle(std::string& replies);
  void add_completely(std::string_view line, std::string& replies);
  void add_missing(const Staged& staged, std::string& replies);
  void refuse(std::uint32_t origin, const Refused& why, std::string_view point,
              std::string& replies);
  void answer(const std::vector<DraftRefusal>& refused, std::string& replies);

  WriterCore& core;
  Draft draft;
  std::uint32_t lines = 0;
  std::optional<SeriesCache::Reader> reader;  // from the first line to the flush
  std::array<Staged, kGroup> staged;
  std::size_t staged_count = 0;
  std::array<char, kGroupBytes> bytes;
  std::size_t bytes_used = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::vector<Answer> answers;  // held back behind lines whose answer is not known yet
};

SeriesCache::Reader& TelnetBatch::Impl::ready_reader() {
  if (!reader) reader.emplace(core.cache.reader());
  return *reader;
}

// The key's bytes must live until settle().
void TelnetBatch::Impl::stage(SeriesKey key, const PutPieces& pieces) {
  Staged& next = staged[staged_count++];
  next.key = key;
  next.hash = core.cache.hash(key);
  next.point = {.time = pieces.time, .value = pieces.value, .flags = pieces.flags};
  next.origin = lines;
  ready_reader().prefetch_slot(next.hash);
}

void TelnetBatch::Impl::add_usual(const PutPieces& pieces, std::string& replies) {
  SeriesKey key{.grammar = KeyGrammar::kPutLine, .metric = pieces.metric, .tags = pieces.tags};
  const std::size_t size = key.metric.size() + key.tags.size();
  if (size > bytes.size() - bytes_used) settle(replies);
  if (size > bytes.size()) {
    stage(key, pieces);
    settle(replies);
    return;
  }
  char* const metric = bytes.data() + bytes_used;
  char* const tags = metric + key.metric.size();
  std::memcpy(metric, key.metric.data(), key.metric.size());
  std::memcpy(tags, key.tags.data(), key.tags.size());
  bytes_used += size;
  key.metric = {metric, key.metric.size()};
  key.tags = {tags, key.tags.size()};
  stage(key, pieces);
  if (staged_count == kGroup) settle(replies);
}

void TelnetBatch::Impl::settle(std::string& replies) {
  if (staged_count == 0) return;
  SeriesCache::Reader& known = ready_reader();
  known.refresh();
  for (std::size_t i = 0; i < staged_count; ++i)
    known.prefetch_entry(staged[i].key, staged[i].hash);
  for (std::size_t i = 0; i < staged_count; ++i) {
    const Staged& line = staged[i];
    if (const auto id = known.find(line.key, line.hash)) {
      ++hits;
      draft.add(*id, line.point, line.origin);
    } else {
      add_missing(line, replies);
    }
  }
  staged_count = 0;
  bytes_used = 0;
}

void TelnetBatch::Impl::add_missing(const Staged& line, std::string& replies) {
  ++misses;
  if (draft.add_if_waiting(line.key, line.hash, line.point, line.origin)) return;
  auto series = parse_put_series(line.key.metric, line.key.tags, core.rules);
  if (series) {
    draft.add_waiting(line.key, line.hash, *std::move(series), line.point, line.origin);
  } else {
    refuse(line.origin, series.error(),
           fmt::format("put {} {} .. {}", line.key.metric, line.point.time, line.key.tags),
           replies);
  }
}

void TelnetBatch::Impl::add_completely(std::string_view line, std::string& replies) {
  auto point = parse_put_line(line, core.rules);
  if (point) {
    ++misses;
    core.add_named(draft, ready_reader(), *std::move(point), lines);
  } else {
    refuse(lines, point.error(), line, replies);
  }
}

void TelnetBatch::Impl::refuse(std::uint32_t origin, const Refused& why, std::string_view point,
                               std::string& replies) {
  core.stats.refused(Protocol::kTelnet, why, point);
  if (draft.waiting().empty()) {
    replies += telnet_refusal(why);
  } else {
    answers.push_back({.origin = origin, .line = telnet_refusal(why)});
  }
}

// Both lists are in the order of lines.
void TelnetBatch::Impl::answer(const std::vector<DraftRefusal>& refused, std::string& replies) {
  auto held = answers.begin();
  for (const DraftRefusal& refusal : refused) {
    for (; held != answers.end() && held->origin < refusal.origin; ++held) replies += held->line;
    if (core.options.telnet_storage_errors || !is_storage_error(refusal.why.reason)) {
      replies += telnet_refusal(refusal.why);
    }
  }
  for (; held != answers.end(); ++held) replies += held->line;
  answers.clear();
}

TelnetBatch::TelnetBatch(Writer& writer) : impl_(std::make_unique<Impl>(writer.impl_->core)) {}

TelnetBatch::~TelnetBatch() = default;

void TelnetBatch::add(std::string_view line, std::string& replies) {
  Impl& impl = *impl_;
  ++impl.lines;
  PutPieces pieces;
  if (split_put_line(line, pieces)) {
    impl.add_usual(pieces, replies);
  } else {
    impl.settle(replies);
    impl.add_completely(line, replies);
  }
}

std::size_t TelnetBatch::points() const { return impl_->staged_count + impl_->draft.points(); }

bool TelnetBatch::full() const {
  const IngestLimits& limits = impl_->core.options.limits;
  return points() >= limits.telnet_batch_points_max ||
         impl_->draft.waiting_bytes() >= limits.telnet_batch_bytes_max;
}

Task<Completion> TelnetBatch::flush(std::string& replies) {
  Impl& impl = *impl_;
  impl.settle(replies);
  impl.core.stats.looked_up(std::exchange(impl.hits, 0), std::exchange(impl.misses, 0));
  impl.reader.reset();
  impl.lines = 0;
  const std::size_t points = impl.draft.points();
  Draft draft = std::exchange(impl.draft, Draft(points));
  auto committed = co_await impl.core.commit(std::move(draft), Protocol::kTelnet);
  if (committed) {
    impl.answer(committed->refused, replies);
    co_return std::move(committed->durable);
  }
  impl.answer({}, replies);
  Refused why = refused_by_store(committed.error());
  impl.core.stats.refused(Protocol::kTelnet, why.reason, points);
  if (impl.core.options.telnet_storage_errors) {
    why.text = fmt::format("{} points not stored: {}", points, why.text);
    replies += telnet_refusal(why);
  }
  Completion failed;
  failed.finish(std::unexpected(std::move(committed).error()));
  co_return failed;
}

}  // namespace halite::ingest
