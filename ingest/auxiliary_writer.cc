#include "ingest/auxiliary_writer.h"

#include <algorithm>
#include <span>
#include <utility>

#include "ingest/json/put_json.h"
#include "ingest/put_outcome.h"

namespace halite::ingest {
namespace {

class Intake final : public JsonSink {
 public:
  explicit Intake(AuxiliaryBatch& round) : round_(round) {}

  Result<void> take(std::span<const JsonElement> elements) override {
    for (const JsonElement& element : elements) {
      const auto origin = static_cast<std::uint32_t>(texts.size());
      texts.push_back(element.text);
      if (element.text.empty()) {
        round_.refused.push_back(
            {.origin = origin,
             .why = {.reason = RefusalReason::kIllegalArgument,
                     .text = "Unexpected null datapoint encountered in set."}});
        continue;
      }
      TRY_VOID(round_.add_element(element.text, origin));
    }
    return {};
  }

  std::vector<std::string_view> texts;  // of the elements in the body; empty for null

 private:
  AuxiliaryBatch& round_;
};

}  // namespace

Task<CommitResult> AuxiliaryWriter::store(AuxiliaryBatch* round, Protocol protocol) {
  CommitResult committed;
  if (round->names.empty()) co_return std::move(committed);
  std::vector<SeriesName> names = std::move(round->names);
  const std::size_t points = names.size();
  auto interning = context_.store.intern(std::move(names), context_.options.create);
  auto answers = co_await std::move(interning);
  if (!answers) {
    committed.failed = std::move(answers).error();
    committed.not_taken = points;
    context_.stats.refused(protocol, refused_by_store(*committed.failed).reason, points);
    co_return std::move(committed);
  }
  std::vector<std::optional<storage::SeriesId>> ids;
  for (std::size_t i = 0; i < points; ++i) {
    const Result<storage::SeriesId>& answer = (*answers)[i];
    ids.push_back(answer ? std::optional(*answer) : std::nullopt);
    if (answer) {
      ++committed.taken;
      continue;
    }
    Refused why = refused_by_store(answer.error());
    if (protocol == Protocol::kTelnet) why = round->on_telnet(std::move(why));
    round->refused.push_back({.origin = round->origins[i], .why = std::move(why)});
  }
  auto writing = round->write(std::move(ids));
  auto refusals = co_await std::move(writing);
  if (!refusals) {
    committed.durable = Completion();
    committed.durable.finish(std::unexpected(std::move(refusals).error()));
  } else {
    for (const storage::Refusal& refusal : *refusals) {
      round->refused.push_back(
          {.origin = round->origins[refusal.index], .why = refused_by_store(refusal.error)});
    }
    committed.taken -= refusals->size();
  }
  context_.stats.taken(protocol, committed.taken);
  co_return std::move(committed);
}

Task<PutOutcome> AuxiliaryWriter::put_json(std::unique_ptr<AuxiliaryBatch> round, std::string body,
                                           PutOptions put_options) {
  PutJsonParser parser(context_.options.limits);
  Intake intake(*round);
  if (auto scanned = parser.scan(body, intake); !scanned) {
    context_.stats.body_refused();
    co_return std::unexpected(std::move(scanned).error());
  }
  auto storing = store(round.get(), Protocol::kHttp);
  CO_TRY(CommitResult committed, co_await std::move(storing));
  committed.refused = std::move(round->refused);
  std::ranges::sort(committed.refused, {}, &BatchRefusal::origin);
  for (const BatchRefusal& refusal : committed.refused) {
    context_.stats.refused(Protocol::kHttp, refusal.why, intake.texts[refusal.origin]);
  }
  SentElements elements{.texts = std::move(intake.texts), .echo = {}};
  elements.echo = [&round](std::string_view element) { return round->echo(element); };
  put_options.sync_timeout_ms = 0;
  auto summing = put_outcome(context_, std::move(committed), std::move(elements), put_options);
  co_return co_await std::move(summing);
}

Task<void> AuxiliaryWriter::put_lines(std::unique_ptr<AuxiliaryBatch> round,
                                      std::vector<std::string> lines, std::string_view command,
                                      std::string* replies) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    round->add_line(lines[i], static_cast<std::uint32_t>(i));
  }
  auto storing = store(round.get(), Protocol::kTelnet);
  CO_TRY(CommitResult committed, co_await std::move(storing));
  std::ranges::sort(round->refused, {}, &BatchRefusal::origin);
  const bool storage_errors = context_.options.telnet_storage_errors;
  const TelnetWords words{.command = command, .opentsdb = context_.options.opentsdb_words};
  for (const BatchRefusal& refusal : round->refused) {
    context_.stats.refused(Protocol::kTelnet, refusal.why, lines[refusal.origin]);
    const bool tell = storage_errors || !is_storage_error(refusal.why.reason);
    if (tell && !refusal.why.text.empty()) *replies += telnet_refusal(refusal.why, words);
  }
  if (committed.failed) {
    if (storage_errors) {
      *replies +=
          telnet_not_stored(refused_by_store(*committed.failed), committed.not_taken, words);
    }
    co_return std::unexpected(*std::move(committed.failed));
  }
  Result<void> settled =
      co_await context_.await_durable(committed.durable, Protocol::kTelnet, committed.taken);
  if (!settled && storage_errors) {
    *replies += telnet_may_be_stored(settled.error(), committed.taken, words);
  }
  co_return settled;
}

}  // namespace halite::ingest
