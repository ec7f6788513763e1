#include "query/plan/rollup_choice.h"

#include <algorithm>
#include <utility>

#include "storage/cells/counters/counter_store.h"
#include "storage/cells/rollups/rollup_tables.h"

namespace halite::query {
namespace {

using storage::RollupTableConfig;
using storage::RollupTables;

// Pre-aggregates are requested by name, or by a filter for their tag.
bool wants_pre_aggregates(const SubQuestion& question, const AggregateTag& tag) {
  if (question.pre_aggregate) return true;
  return std::ranges::any_of(question.filters, [&](const Filter& filter) {
    const bool literal = filter.filter.type == storage::FilterType::kLiteralOr ||
                         filter.filter.type == storage::FilterType::kILiteralOr;
    return literal && filter.filter.key == tag.key && filter.filter.pattern != tag.raw_value;
  });
}

// The tables whose intervals divide the downsampler's, coarsest first.
std::vector<const RollupTableConfig*> fitting(const SubQuestion& question,
                                              const storage::RollupConfig& config) {
  std::vector<const RollupTableConfig*> tables;
  if (!question.downsample || question.rollup_usage == RollupUsage::kRaw) return tables;
  const std::int64_t seconds = question.downsample->interval_ms / 1000;
  if (seconds == 0) return tables;
  for (const RollupTableConfig& table : config.tables) {
    if (seconds % table.cells.seconds == 0) tables.push_back(&table);
  }
  std::ranges::sort(tables, std::greater(),
                    [](const RollupTableConfig* table) { return table->cells.seconds; });
  return tables;
}

// The stored function for a downsampler's function.
std::string stored_function(const std::string& function) {
  if (function == "zimsum") return "sum";
  if (function == "mimmin") return "min";
  if (function == "mimmax") return "max";
  return function;
}

Result<ReadChoice> rollup_choice(const SubQuestion& question, const RollupTables& tables,
                                 const RollupTableConfig& table, bool pre_aggregated) {
  ReadChoice choice{.question = question, .rollup = {}, .source = {}, .table = table.interval};
  DownsampleSpec& downsample = *choice.question.downsample;
  const std::string function = stored_function(downsample.function);
  TRY(choice.source, tables.source(table, pre_aggregated, function));
  if (function == "dev") {
    return fail(Errc::kInvalidArgument,
                "Standard deviation over rolled up data is not supported at this time");
  }
  choice.rollup = PlannedRollup{.rows = table.cells, .average = function == "avg"};
  // The count of the whole is the sum of its parts' counts.
  if (function == "count") downsample.function = "sum";
  return choice;
}

// Sums of longer buckets are sums of shorter ones; other functions need the shortest.
const storage::CounterBucket& fitting_bucket(const SubQuestion& question,
                                             const storage::CounterRule& rule) {
  const storage::CounterBucket* best = &rule.buckets.front();
  if (!question.downsample || question.rollup_usage == RollupUsage::kRaw) return *best;
  const DownsampleSpec& downsample = *question.downsample;
  if (downsample.calendar || stored_function(downsample.function) != "sum") return *best;
  for (const storage::CounterBucket& bucket : rule.buckets) {
    const bool fits = bucket.length_ms == 0
                          ? downsample.all
                          : !downsample.all && downsample.interval_ms % bucket.length_ms == 0;
    if (fits) best = &bucket;
  }
  return *best;
}

ReadChoice raw_choice(const SubQuestion& question, const RollupTables* tables,
                      bool pre_aggregated) {
  ReadChoice choice{.question = question, .rollup = {}, .source = {}, .table = "raw"};
  if (pre_aggregated) choice.source = tables->pre_aggregates();
  return choice;
}

// Points as fallback for an empty rollup: OpenTSDB uses that rollup's interval and function, not
// those of the query.
ReadChoice raw_instead_of(const SubQuestion& question, const RollupTables* tables,
                          const RollupTableConfig& table, bool pre_aggregated) {
  ReadChoice choice = raw_choice(question, tables, pre_aggregated);
  DownsampleSpec& downsample = *choice.question.downsample;
  downsample.interval_ms = table.cells.seconds * 1000;
  downsample.calendar = false;
  downsample.function = stored_function(downsample.function);
  return choice;
}

}  // namespace

Result<std::vector<ReadChoice>> choose_reads(const SubQuestion& asked, const RollupTables* tables,
                                             const storage::CounterStore* counters,
                                             const AggregateTag& tag, TimestampMs begin) {
  std::vector<ReadChoice> choices;
  const storage::CounterRule* const rule =
      counters == nullptr || asked.metric.empty() ? nullptr : counters->rule_of(asked.metric);
  if (rule != nullptr) {
    const storage::CounterBucket& bucket = fitting_bucket(asked, *rule);
    choices.push_back({.question = asked,
                       .rollup = {},
                       .source = counters->source(bucket, begin),
                       .table = bucket.name});
    return choices;
  }
  if (tables == nullptr) {
    if (asked.pre_aggregate) {
      return fail(Errc::kInvalidArgument,
                  "The query asks for pre-aggregated data, but no rollups are configured");
    }
    choices.push_back(raw_choice(asked, nullptr, false));
    return choices;
  }
  const bool pre_aggregated = wants_pre_aggregates(asked, tag);
  const auto fit = fitting(asked, tables->config());
  SubQuestion question = asked;
  // For rollups, OpenTSDB adds numbers where the query counts series.
  if (!fit.empty() && question.aggregator == "count") question.aggregator = "sum";
  if (fit.empty() || fit.front()->is_default) {
    choices.push_back(raw_choice(question, tables, pre_aggregated));
    return choices;
  }
  TRY(ReadChoice first, rollup_choice(question, *tables, *fit.front(), pre_aggregated));
  choices.push_back(std::move(first));
  if (asked.rollup_usage == RollupUsage::kFallbackRaw) {
    choices.push_back(raw_instead_of(question, tables, *fit.front(), pre_aggregated));
  }
  if (asked.rollup_usage != RollupUsage::kFallback) return choices;
  for (std::size_t i = 1; i < fit.size(); ++i) {
    if (fit[i]->is_default) {
      choices.push_back(raw_instead_of(question, tables, *fit[i - 1], pre_aggregated));
      break;
    }
    TRY(ReadChoice next, rollup_choice(question, *tables, *fit[i], pre_aggregated));
    choices.push_back(std::move(next));
  }
  return choices;
}

}  // namespace halite::query
