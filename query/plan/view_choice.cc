#include "query/plan/view_choice.h"

#include <algorithm>
#include <tuple>

#include "query/parse/aggregator.h"

namespace halite::query {
namespace {

bool stores(const storage::ViewRule& view, AggregatorKind function) {
  switch (function) {
    case AggregatorKind::kSum:
      return view.functions.sum;
    case AggregatorKind::kMin:
      return view.functions.min;
    case AggregatorKind::kMax:
      return view.functions.max;
    case AggregatorKind::kCount:
      return true;
    case AggregatorKind::kAvg:
      return view.functions.sum && !view.group_by;
    case AggregatorKind::kPercentile:
      return view.functions.sketch;
    default:
      return false;
  }
}

// Whether aggregating series and then groups of them is the same as aggregating all at once. A fill
// policy replaces interpolation; a missing zero does not change a sum.
bool adds_up(const Aggregator& aggregator, const DownsampleSpec& downsample) {
  const AggregatorKind function = find_aggregator(downsample.function)->kind;
  const bool nan = downsample.fill == FillPolicy::kNan || downsample.fill == FillPolicy::kNull;
  const bool none = downsample.fill == FillPolicy::kNone;
  switch (aggregator.kind) {
    case AggregatorKind::kSum:
      if (function != AggregatorKind::kSum && function != AggregatorKind::kCount) return false;
      return nan || downsample.fill == FillPolicy::kZero ||
             (none && aggregator.interpolation == Interpolation::kZero);
    case AggregatorKind::kMin:
      return function == AggregatorKind::kMin &&
             (nan || (none && aggregator.interpolation == Interpolation::kMax));
    case AggregatorKind::kMax:
      return function == AggregatorKind::kMax &&
             (nan || (none && aggregator.interpolation == Interpolation::kMin));
    default:
      return false;
  }
}

std::string_view why_not_by_tags(const storage::ViewRule& view, const Question& question,
                                 const SubQuestion& sub) {
  const bool has_keys = std::ranges::all_of(sub.filters, [&](const Filter& filter) {
    return std::ranges::binary_search(*view.group_by, filter.filter.key);
  });
  if (!has_keys) return "it does not keep a tag of the filters";
  if (sub.explicit_tags) return "explicitTags needs all tags";
  if (question.show_tsuids || question.with_ids) return "showTSUIDs needs single series";
  return {};
}

std::string_view why_not_grouped(const storage::ViewRule& view, const Question& question,
                                 const SubQuestion& sub) {
  const std::string_view by_tags = why_not_by_tags(view, question, sub);
  if (!by_tags.empty()) return by_tags;
  if (sub.rate) return "a rate needs single series";
  if (reads_sketches(sub)) return "the downsampler needs values of single series";
  if (!adds_up(*find_aggregator(sub.aggregator), *sub.downsample)) {
    return "the aggregator needs values of single series: use zimsum over sum or count, mimmin "
           "over min, mimmax over max, or a fill policy";
  }
  return {};
}

// Sketches of groups and of single series merge without loss.
std::string_view why_not_percentiles(const storage::ViewRule& view, const Question& question,
                                     const SubQuestion& sub) {
  if (!view.functions.sketch) return "it does not store percentiles";
  if (!view.group_by) return {};
  if (sub.aggregator == "none") return "the aggregator none needs single series";
  return why_not_by_tags(view, question, sub);
}

}  // namespace

std::string_view why_not(const storage::ViewRule& view, const Question& question,
                         const SubQuestion& sub) {
  if (!question.use_views) return "the query sets useViews to false";
  if (question.delete_points) return "the query deletes points";
  if (sub.rollup_usage == RollupUsage::kRaw) return "rollupUsage is ROLLUP_RAW";
  if (sub.pre_aggregate) return "the query asks for pre-aggregates";
  if (sub.metric.empty()) return "the query selects series by TSUID";
  if (sub.show_histogram_buckets) return "the query asks for buckets of histograms";
  if (!sub.downsample) return "the query has no downsampler";
  const DownsampleSpec& downsample = *sub.downsample;
  if (downsample.all || downsample.calendar || downsample.interval_ms == 0) {
    return "the downsampler has no fixed interval";
  }
  if (downsample.interval_ms % view.interval_ms != 0) {
    return "the downsampler's interval is no multiple of the view's";
  }
  if (!sub.percentiles.empty()) return why_not_percentiles(view, question, sub);
  if (!stores(view, find_aggregator(downsample.function)->kind)) {
    return "it does not store the downsampler's function";
  }
  return view.group_by ? why_not_grouped(view, question, sub) : std::string_view();
}

bool reads_sketches(const SubQuestion& sub) {
  if (!sub.percentiles.empty()) return true;
  return sub.downsample &&
         find_aggregator(sub.downsample->function)->kind == AggregatorKind::kPercentile;
}

std::vector<std::shared_ptr<const storage::View>> fitting_views(const storage::ViewStore& views,
                                                                const Question& question,
                                                                const SubQuestion& sub) {
  std::vector<std::shared_ptr<const storage::View>> fitting;
  if (sub.metric.empty()) return fitting;
  for (auto& view : views.views_of(sub.metric)) {
    if (why_not(view->rule, question, sub).empty()) fitting.push_back(std::move(view));
  }
  std::ranges::sort(fitting, {}, [](const auto& view) {
    const storage::ViewRule& rule = view->rule;
    return std::tuple(!rule.group_by.has_value(), rule.group_by ? rule.group_by->size() : 0,
                      -rule.interval_ms);
  });
  return fitting;
}

}  // namespace halite::query
