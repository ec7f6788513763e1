// Decides whether a view can answer a sub-query in place of the points.
//
// Its answer must be that of the points; only percentiles, which come from sketches, may differ by
// 1 %. The engine uses those if the query asks for them or the points have expired. A view that
// keeps all tags has the downsampled values of each series, so any aggregator may follow. A view
// that adds series up has no values of single series, so only aggregators remain that neither
// interpolate nor need them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "query/question.h"
#include "storage/views/view_rules.h"
#include "storage/views/view_store.h"

namespace halite::query {

// Why the view cannot answer the sub-query; empty if it can.
[[nodiscard]] std::string_view why_not(const storage::ViewRule& view, const Question& question,
                                       const SubQuestion& sub);

// Whether a view answers the sub-query from sketches, so approximately.
[[nodiscard]] bool reads_sketches(const SubQuestion& sub);

// The views that can answer, those with the least to read first.
[[nodiscard]] std::vector<std::shared_ptr<const storage::View>> fitting_views(
    const storage::ViewStore& views, const Question& question, const SubQuestion& sub);

}  // namespace halite::query
