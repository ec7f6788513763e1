#include "ingest/side_writer.h"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "ingest/put_json.h"

namespace halite::ingest {
namespace {

class Intake final : public JsonSink {
 public:
  explicit Intake(SideRound& round) : round_(round) {}

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

  std::vector<std::string_view> texts;  // of the elements, into the body; null has none

 private:
  SideRound& round_;
};

}  // namespace

Task<std::uint64_t> SideWriter::store(SideRound* round, Protocol protocol) {
  if (round->names.empty()) co_return 0;
  std::vector<SeriesName> names = std::move(round->names);
  const std::shared_ptr<const storage::SeriesHold> hold = core_.store.hold_series();
  auto interning = core_.store.intern(std::move(names), core_.options.create);
  CO_TRY(const auto answers, co_await std::move(interning));
  std::vector<std::optional<storage::SeriesId>> ids;
  std::uint64_t taken = 0;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    ids.push_back(answers[i] ? std::optional(*answers[i]) : std::nullopt);
    if (answers[i]) {
      ++taken;
      continue;
    }
    Refused why = refused_by_store(answers[i].error());
    if (protocol == Protocol::kTelnet) why = round->on_telnet(std::move(why));
    round->refused.push_back({.origin = round->origins[i], .why = std::move(why)});
  }
  auto writing = round->write(std::move(ids));
  CO_TRY(const auto refusals, co_await std::move(writing));
  for (const storage::Refusal& refusal : refusals) {
    round->refused.push_back(
        {.origin = round->origins[refusal.index], .why = refused_by_store(refusal.error)});
  }
  taken -= refusals.size();
  core_.stats.taken(protocol, taken);
  co_return taken;
}

Task<PutOutcome> SideWriter::put_json(std::unique_ptr<SideRound> round, std::string body,
                                      bool keep_failures) {
  PutJsonParser parser(core_.options.limits);
  Intake intake(*round);
  if (auto scanned = parser.scan(body, intake); !scanned) {
    core_.stats.body_refused();
    co_return std::unexpected(std::move(scanned).error());
  }
  auto storing = store(round.get(), Protocol::kHttp);
  Result<std::uint64_t> taken = co_await std::move(storing);
  if (!taken) {
    core_.stats.body_refused();
    co_return std::unexpected(std::move(taken).error());
  }
  std::ranges::sort(round->refused, {}, &DraftRefusal::origin);
  PutOutcome outcome{.success = *taken,
                     .failed = round->refused.size(),
                     .failures = {},
                     .away = away_for(round->refused),
                     .durable = Completion::done()};
  for (const DraftRefusal& refusal : round->refused) {
    const std::string_view element = intake.texts[refusal.origin];
    core_.stats.refused(Protocol::kHttp, refusal.why, element);
    if (!keep_failures) continue;
    outcome.failures.push_back({.datapoint = element.empty() ? "null" : round->echo(element),
                                .error = http_refusal(refusal.why)});
  }
  co_return std::move(outcome);
}

Task<void> SideWriter::put_lines(std::unique_ptr<SideRound> round, std::vector<std::string> lines,
                                 std::string_view command, std::string* replies) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    round->add_line(lines[i], static_cast<std::uint32_t>(i));
  }
  const std::size_t points = round->names.size();
  auto storing = store(round.get(), Protocol::kTelnet);
  const Result<std::uint64_t> taken = co_await std::move(storing);
  std::ranges::sort(round->refused, {}, &DraftRefusal::origin);
  const bool storage_errors = core_.options.telnet_storage_errors;
  const TelnetWords words{.command = command, .opentsdb = core_.options.opentsdb_words};
  for (const DraftRefusal& refusal : round->refused) {
    core_.stats.refused(Protocol::kTelnet, refusal.why, lines[refusal.origin]);
    const bool tell = storage_errors || !is_storage_error(refusal.why.reason);
    if (tell && !refusal.why.text.empty()) *replies += telnet_refusal(refusal.why, words);
  }
  if (taken) co_return Result<void>{};
  Refused why = refused_by_store(taken.error());
  core_.stats.refused(Protocol::kTelnet, why.reason, points);
  if (storage_errors) {
    why.text = fmt::format("{} points not stored: {}", points, why.text);
    *replies += telnet_refusal(why, words);
  }
  co_return std::unexpected(taken.error());
}

}  // namespace halite::ingest
