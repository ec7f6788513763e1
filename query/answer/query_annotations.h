// Annotations in answers: those of the series that a sub-query reads, and global ones.
//
// As in OpenTSDB, an annotation belongs to a group if it lies in an hour that is read, even if its
// series has no point there. A group of only such annotations is an answer without a metric.
#pragma once

#include <memory>
#include <vector>

#include "common/threads/task.h"
#include "query/answer/group.h"
#include "query/plan/plan.h"
#include "query/question.h"
#include "query/scan/fetch.h"
#include "storage/api/point_store.h"
#include "storage/meta/metadata.h"

namespace halite::query {

// Adds the annotations that came with the points of series to their groups. kTooLarge: more than
// `notes_max`.
[[nodiscard]] Result<void> distribute_annotations(std::vector<FetchedNote> found,
                                                  std::size_t notes_max, Groups& groups);

// Adds the annotations in the hours scanned, from their own rows, to the groups of their series.
// All references outlive the task.
Task<void> find_annotations(storage::PointStore& store, storage::Metadata& metadata,
                            std::shared_ptr<const storage::Selection> selection,
                            const SubQuestion& question, const SubPlan& plan, Groups& groups);

// Removes the annotations of the selected series that begin in the range.
Task<void> remove_annotations(storage::PointStore& store, storage::Metadata& metadata,
                              std::shared_ptr<const storage::Selection> selection,
                              const SubQuestion& question, TimeRange range);

// Global annotations in the time range of the query; none unless it asks for them.
Task<std::vector<storage::Annotation>> find_global_annotations(storage::Metadata& metadata,
                                                               const Question& question);

}  // namespace halite::query
