#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ingest/telnet/line_round.h"
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

}  // namespace

struct TelnetBatch::Impl {
  LineRound& begun();
  // Answers lines that the round refused, at once if no earlier answer is unknown yet.
  void answer_refused(std::string& replies);

  WriterContext& context;
  std::unique_ptr<LineRound> round;
  std::vector<HeldAnswer> answers;  // of the round
  std::size_t points_before = 0;    // in the previous round: the next is often as large
};

LineRound& TelnetBatch::Impl::begun() {
  if (!round) {
    round = std::make_unique<LineRound>(context, context.options.telnet_command, points_before);
  }
  return *round;
}

void TelnetBatch::Impl::answer_refused(std::string& replies) {
  if (!round->any_refused()) return;
  for (const BatchRefusal& refused : round->take_refused()) {
    std::string text = telnet_refusal(refused.why, {.command = context.options.telnet_command});
    if (round->any_waiting()) {
      answers.push_back({.origin = refused.origin, .text = std::move(text)});
    } else {
      replies += text;
    }
  }
}

TelnetBatch::TelnetBatch(Writer& writer) : impl_(std::make_unique<Impl>(writer.impl_->context)) {}

TelnetBatch::~TelnetBatch() = default;

void TelnetBatch::add(std::string_view line, std::string& replies) {
  impl_->begun().add(line);
  impl_->answer_refused(replies);
}

TelnetBatch::FastPathResult TelnetBatch::add_fast_path(std::string_view text,
                                                       std::size_t line_bytes_max,
                                                       std::string& replies) {
  // The first line of a round needs a look-up: its predecessor is unknown.
  if (!impl_->round) return {};
  const LineRound::FastPathResult taken = impl_->round->add_fast_path(
      text, line_bytes_max, impl_->context.options.limits.telnet_batch_points_max);
  impl_->answer_refused(replies);
  return {.bytes = taken.bytes, .lines = taken.lines};
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
  impl_->round->resolve();
  impl_->answer_refused(replies);
  impl_->round->count_lookups();
  const std::size_t points = impl_->round->points();
  const std::vector<HeldAnswer> held = std::exchange(impl_->answers, {});
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
