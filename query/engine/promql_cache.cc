#include "query/engine/promql_cache.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <functional>
#include <iterator>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "common/metrics.h"
#include "common/result.h"
#include "query/promql/eval/column_reader.h"
#include "query/promql/reach.h"

namespace halite::query {
namespace {

using promql::Row;
using promql::Steps;

constexpr std::uint64_t kAnswersThatFit = 8;  // a larger part of the cache is for no single one
constexpr std::uint64_t kEntryBytes = 512;    // of the objects around an answer
constexpr std::uint64_t kRowBytes = sizeof(Row) + 2 * 16;  // with what malloc() needs

prometheus::Counter& steps_counter(prometheus::Registry& registry, const char* source) {
  return add_counter(registry, "halite_query_promql_steps_total",
                     "Times of range queries in PromQL that were evaluated, or taken from the "
                     "cache, by source.",
                     {{"source", source}});
}

// What asks for values at such times has the same key. Answers to much shorter queries are apart:
// they would replace those of the longer ones.
std::string key_of(const PromqlQuestion& question, std::int64_t lookback_ms) {
  const Steps& steps = question.steps;
  return fmt::format("{} {} {} {} {}", steps.step_ms, steps.begin % steps.step_ms,
                     std::bit_width(steps.count), lookback_ms, question.expression);
}

bool none_expires(const storage::PointStore& store, const promql::Reach& reach,
                  const Steps& steps) {
  const TimestampMs first = steps.begin - reach.back_ms + 1;
  if (reach.any_metric && first < store.kept_from("")) return false;
  return std::ranges::all_of(
      reach.metrics, [&](const std::string& metric) { return first >= store.kept_from(metric); });
}

// How many of the first steps of a query an answer has. Samples before `unchanged` are the same.
std::size_t steps_in(const Steps& kept, const Steps& wanted, TimestampMs unchanged) {
  if (wanted.begin < kept.begin || wanted.begin > kept.last() || wanted.begin >= unchanged) {
    return 0;
  }
  const TimestampMs last = std::min(kept.last(), unchanged - 1);
  const auto steps = static_cast<std::size_t>((last - wanted.begin) / wanted.step_ms) + 1;
  return std::min(steps, wanted.count);
}

// Bytes of the labels' texts, and of all.
struct Size {
  std::size_t texts = 0;
  std::uint64_t all = 0;
};

Size size_of(const promql::Vector& vector, const std::vector<std::string>& infos,
             const std::string& key) {
  Size size;
  for (const Row& row : vector.rows) {
    for (const promql::Label& label : row.labels) {
      size.texts += label.name.size() + label.value.size();
    }
    size.all +=
        kRowBytes + row.labels.size() * sizeof(promql::Label) + row.values.size() * sizeof(double);
  }
  for (const std::string& info : infos) size.all += sizeof(info) + info.size();
  size.all += kEntryBytes + key.size() + size.texts;
  return size;
}

// The row with labels whose texts are appended to `texts`, which has the room.
Row copy_of(const Row& row, std::string& texts) {
  const auto append = [&texts](std::string_view text) {
    texts.append(text);
    return std::string_view(texts).substr(texts.size() - text.size());
  };
  std::vector<promql::Label> labels;
  labels.reserve(row.labels.size());
  for (const promql::Label& label : row.labels) {
    const std::string_view name = append(label.name);
    labels.push_back({name, append(label.value)});
  }
  return {.labels = promql::Labels(std::move(labels)), .values = row.values};
}

std::shared_ptr<const PromqlCache::KeptAnswer> copy_of(const PromqlAnswer& answer,
                                                       const promql::Vector& vector, Size size) {
  auto kept = std::make_shared<PromqlCache::KeptAnswer>();
  auto texts = std::make_shared<std::string>();
  texts->reserve(size.texts);
  kept->rows.reserve(vector.rows.size());
  for (const Row& row : vector.rows) kept->rows.push_back(copy_of(row, *texts));
  kept->steps = answer.steps;
  kept->texts = std::move(texts);
  kept->infos = answer.infos;
  kept->bytes = size.all;
  return kept;
}

// Whether the infos of the kept answer are those of all steps. Kept steps before the query's first
// one may have added some: then the other steps must have the same.
bool has_same_infos(const PromqlCache::Use& use, const Steps& steps, const PromqlAnswer& rest) {
  if (!rest.warnings.empty() || rest.depends_on_all_steps) return false;
  if (use.steps < steps.count) return rest.infos == use.kept->infos;
  return use.kept->infos.empty() || use.kept->steps == steps;
}

}  // namespace

PromqlCache::PromqlCache(std::uint64_t bytes_max, prometheus::Registry& registry)
    : bytes_max_(bytes_max),
      steps_taken_(steps_counter(registry, "cache")),
      steps_evaluated_(steps_counter(registry, "evaluated")),
      bytes_gauge_(add_gauge(registry, "halite_query_promql_cache_bytes",
                             "Memory of the answers in the cache of range queries.")) {}

PromqlCache::Use PromqlCache::look_up(const PromqlQuestion& question, const promql::Expr& expr,
                                      std::int64_t lookback_ms, storage::PointStore& store) {
  Use use;
  storage::PointChanges* const changes = store.changes();
  if (bytes_max_ == 0 || question.no_cache || !question.range ||
      expr.type != promql::ValueType::kVector || changes == nullptr) {
    return use;
  }
  const std::optional<promql::Reach> reach = reach_of(expr, lookback_ms);
  if (!reach || !none_expires(store, *reach, question.steps)) return use;
  use.key = key_of(question, lookback_ms);
  use.mark = changes->mark();
  Entry found;
  {
    const std::lock_guard lock(mutex_);
    const auto place = by_key_.find(use.key);
    if (place == by_key_.end()) return use;
    found.kept = place->second->kept;
    found.mark = place->second->mark;
    entries_.splice(entries_.begin(), entries_, place->second);
  }
  use.steps = steps_in(found.kept->steps, question.steps, changes->unchanged_before(found.mark));
  if (use.steps > 0) use.kept = std::move(found.kept);
  return use;
}

void PromqlCache::keep(Use use, const PromqlAnswer& answer) {
  steps_taken_.Increment(static_cast<double>(use.steps));
  steps_evaluated_.Increment(static_cast<double>(answer.steps.count - use.steps));
  const auto* const vector = std::get_if<promql::Vector>(&answer.value);
  if (use.key.empty() || vector == nullptr || !answer.warnings.empty() ||
      answer.depends_on_all_steps || !is_repeated(use.key)) {
    return;
  }
  std::shared_ptr<const KeptAnswer> kept;
  if (use.steps == answer.steps.count && use.kept->steps == answer.steps) {
    kept = use.kept;
  } else {
    const Size size = size_of(*vector, answer.infos, use.key);
    if (size.all > bytes_max_ / kAnswersThatFit) return;
    kept = copy_of(answer, *vector, size);
  }
  Entries removed;
  const std::lock_guard lock(mutex_);
  if (const auto before = by_key_.find(use.key); before != by_key_.end()) {
    remove(before->second, removed);
  }
  bytes_ += kept->bytes;
  entries_.push_front({.key = std::move(use.key), .kept = std::move(kept), .mark = use.mark});
  by_key_.emplace(entries_.front().key, entries_.begin());
  while (bytes_ > bytes_max_) remove(std::prev(entries_.end()), removed);
  bytes_gauge_.Set(static_cast<double>(bytes_));
}

bool PromqlCache::is_repeated(std::string_view key) {
  const std::size_t hash = std::hash<std::string_view>()(key);
  const std::lock_guard lock(mutex_);
  return std::exchange(asked_[hash % asked_.size()], hash) == hash || by_key_.contains(key);
}

void PromqlCache::remove(Entries::iterator entry, Entries& removed) {
  bytes_ -= entry->kept->bytes;
  by_key_.erase(entry->key);
  removed.splice(removed.end(), entries_, entry);
}

std::uint64_t PromqlCache::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

std::optional<Steps> rest_of(const Steps& steps, const PromqlCache::Use& use) {
  if (use.steps == steps.count) return std::nullopt;
  return Steps{
      .begin = steps.at(use.steps), .step_ms = steps.step_ms, .count = steps.count - use.steps};
}

Result<bool> join(const PromqlCache::Use& use, const Steps& steps, QueryBudget& budget,
                  PromqlAnswer& answer) {
  if (!has_same_infos(use, steps, answer)) return false;
  const PromqlCache::KeptAnswer& kept = *use.kept;
  std::vector<Row> evaluated = std::move(std::get<promql::Vector>(answer.value).rows);
  const auto from = static_cast<std::ptrdiff_t>((steps.begin - kept.steps.begin) / steps.step_ms);
  const auto count = static_cast<std::ptrdiff_t>(use.steps);
  promql::Vector all;
  // `before` has the first steps, `behind` the remaining ones; one of them may be null.
  const auto add = [&](const Row* before, const Row* behind) -> Result<void> {
    std::span<const double> first;
    if (before != nullptr) first = std::span(before->values).subspan(from, count);
    if (std::ranges::none_of(first, promql::is_present)) first = {};
    if (first.empty() && behind == nullptr) return {};
    const promql::Labels& labels = (behind != nullptr ? behind : before)->labels;
    const std::int64_t counted =
        behind == nullptr ? 0 : promql::row_bytes(labels, behind->values.size());
    TRY_VOID(budget.add_bytes(promql::row_bytes(labels, steps.count) - counted));
    Row row{.labels = labels, .values = std::vector<double>(steps.count, promql::kAbsent)};
    std::ranges::copy(first, row.values.begin());
    if (behind != nullptr) std::ranges::copy(behind->values, row.values.begin() + count);
    all.rows.push_back(std::move(row));
    return {};
  };
  // Both are in the order of labels.
  auto left = kept.rows.begin();
  auto right = evaluated.begin();
  while (left != kept.rows.end() || right != evaluated.end()) {
    const std::strong_ordering order = left == kept.rows.end()    ? std::strong_ordering::greater
                                       : right == evaluated.end() ? std::strong_ordering::less
                                                                  : left->labels <=> right->labels;
    TRY_VOID(add(order <= 0 ? &*left : nullptr, order >= 0 ? &*right : nullptr));
    if (order <= 0) ++left;
    if (order >= 0) ++right;
  }
  answer.infos = kept.infos;
  answer.value = std::move(all);
  answer.steps = steps;
  return true;
}

}  // namespace halite::query
