// Annotations in answers: those of the series a sub-query reads, and global ones.
//
// As OpenTSDB has it, a note belongs to a group when it stands in an hour that is read, though its
// series has no point there; a group of nothing but such notes is an answer without a metric.
#pragma once

#include <memory>
#include <vector>

#include "common/task.h"
#include "query/answer/group.h"
#include "query/plan/plan.h"
#include "query/question.h"
#include "query/scan/fetch.h"
#include "storage/api/point_store.h"
#include "storage/meta/metadata.h"

namespace halite::query {

// Gives each group the notes that came with its series' points. kTooLarge: more than `notes_max`.
[[nodiscard]] Result<void> share_notes(std::vector<Fetch::Note> found, std::size_t notes_max,
                                       Groups& groups);

// Gives each group its series' notes of the hours scanned, from where they lie by themselves. All
// are used until the task is over.
Task<void> find_notes(storage::PointStore& store, storage::Metadata& metadata,
                      std::shared_ptr<const storage::Selection> selection,
                      const SubQuestion& question, const SubPlan& plan, Groups& groups);

// Removes the notes that begin in the range, of the selection's series.
Task<void> remove_notes(storage::PointStore& store, storage::Metadata& metadata,
                        std::shared_ptr<const storage::Selection> selection,
                        const SubQuestion& question, TimeRange range);

// Global notes of the question's time; none unless they are asked for.
Task<std::vector<storage::Annotation>> find_global_notes(storage::Metadata& metadata,
                                                         const Question& question);

}  // namespace halite::query
