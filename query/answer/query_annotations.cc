#include "query/answer/query_annotations.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace halite::query {
namespace {

using storage::Annotation;
using storage::SeriesAnnotations;

// The metric's UID; empty if no annotation can match.
Task<Bytes> metric_of(storage::Metadata& metadata, const SubQuestion& question) {
  if (!question.tsuids.empty()) {
    co_return question.tsuids.front().substr(0, metadata.widths().metric);
  }
  storage::UidTable& uids = metadata.uids();
  CO_TRY(const storage::UidTable::NameMapping metric,
         co_await uids.find(storage::NameKind::kMetric, question.metric));
  co_return uids.uid_bytes(storage::NameKind::kMetric, metric.uid);
}

}  // namespace

Result<void> distribute_annotations(std::vector<FetchedNote> found, std::size_t notes_max,
                                    Groups& groups) {
  if (found.size() > notes_max) return std::unexpected(storage::too_many_annotations(notes_max));
  std::map<const storage::Series*, std::vector<Annotation>> by_series;
  for (const FetchedNote& one : found) {
    Result<Annotation> note = storage::parse_annotation(one.json);
    if (!note) {
      return fail(Errc::kCorruption,
                  fmt::format("an annotation of series {}: {}",
                              to_hex(Bytes(one.series->tsuid.bytes())), note.error().message));
    }
    by_series[one.series].push_back(*std::move(note));
  }
  for (auto& [series, notes] : by_series) {
    AnnotationsBySeries of_one;
    of_one.emplace(series->tsuid.bytes(), std::move(notes));
    groups.take_annotations(of_one, *series);
  }
  return {};
}

Task<void> find_annotations(storage::PointStore& store, storage::Metadata& metadata,
                            std::shared_ptr<const storage::Selection> selection,
                            const SubQuestion& question, const SubPlan& plan, Groups& groups) {
  auto naming = metric_of(metadata, question);
  CO_TRY(Bytes metric, co_await std::move(naming));
  auto scanning = metadata.annotations().of_metric(std::move(metric), plan.scan);
  CO_TRY(std::vector<SeriesAnnotations> found, co_await std::move(scanning));
  if (found.empty()) co_return Result<void>{};
  AnnotationsBySeries notes;
  for (SeriesAnnotations& one : found) notes.emplace(std::move(one.tsuid), std::move(one.notes));
  groups.take_annotations(notes);
  if (notes.empty()) co_return Result<void>{};
  // Includes series without a point in the range.
  auto looking = store.lookup(std::move(selection), 0);
  CO_TRY(const storage::PinnedSeries ids, co_await std::move(looking));
  for (const storage::SeriesId id : ids) groups.take_annotations(notes, store.series(id));
  co_return Result<void>{};
}

Task<void> remove_annotations(storage::PointStore& store, storage::Metadata& metadata,
                              std::shared_ptr<const storage::Selection> selection,
                              const SubQuestion& question, TimeRange range) {
  auto naming = metric_of(metadata, question);
  CO_TRY(const Bytes metric, co_await std::move(naming));
  auto scanning = metadata.annotations().of_metric(metric, range);
  CO_TRY(const std::vector<SeriesAnnotations> found, co_await std::move(scanning));
  std::set<Bytes> with_notes;
  for (const SeriesAnnotations& one : found) with_notes.insert(one.tsuid);
  if (with_notes.empty()) co_return Result<void>{};
  auto looking = store.lookup(std::move(selection), 0);
  CO_TRY(const storage::PinnedSeries ids, co_await std::move(looking));
  std::set<Bytes> tsuids;
  for (const storage::SeriesId id : ids) {
    Bytes tsuid(store.series(id).tsuid.bytes());
    if (with_notes.contains(tsuid)) tsuids.insert(std::move(tsuid));
  }
  if (tsuids.empty()) co_return Result<void>{};
  auto removing = metadata.annotations().remove_of_metric(metric, range, std::move(tsuids));
  co_return co_await std::move(removing);
}

Task<std::vector<Annotation>> find_global_annotations(storage::Metadata& metadata,
                                                      const Question& question) {
  std::vector<Annotation> notes;
  if (question.no_annotations || !question.global_annotations) co_return std::move(notes);
  auto scanning = metadata.annotations().globals(question.begin / 1000, (question.end - 1) / 1000);
  CO_TRY(notes, co_await std::move(scanning));
  sort_annotations(notes);
  co_return std::move(notes);
}

}  // namespace halite::query
