// The functions, aggregations and keywords of PromQL that the page offers while you type. Those marked
// experimental need the setting query.promql_experimental.

export interface Word {
  name: string;
  takes: string; // its arguments; empty: none in parentheses
  note: string;
  experimental?: boolean;
}

function words(takes: string, notes: Record<string, string>, experimental = false): Word[] {
  return Object.entries(notes).map(([name, note]) => ({ name, takes, note, ...(experimental ? { experimental } : {}) }));
}

const kAggregations: Word[] = [
  ...words("v", {
    sum: "sum of the series",
    avg: "average of the series",
    min: "smallest",
    max: "largest",
    count: "number of series",
    group: "1 for each group",
    stddev: "standard deviation of the series",
    stdvar: "variance of the series",
  }),
  ...words("k, v", { topk: "the k largest series", bottomk: "the k smallest series" }),
  ...words("q, v", { quantile: "quantile q of the series, 0 to 1" }),
  ...words('"label", v', { count_values: "number of series for each value" }),
  ...words("k, v", { limitk: "any k series" }, true),
  ...words("r, v", { limit_ratio: "a share r of the series" }, true),
];

const kOfRanges: Word[] = [
  ...words("v[5m]", {
    rate: "increase of a counter, per second",
    increase: "increase of a counter",
    irate: "rate between the last two samples",
    delta: "difference of a gauge",
    idelta: "difference of the last two samples",
    deriv: "slope of a gauge, per second",
    resets: "number of times a counter started again",
    changes: "number of changes of the value",
    avg_over_time: "average",
    min_over_time: "smallest",
    max_over_time: "largest",
    sum_over_time: "sum",
    count_over_time: "number of samples",
    stddev_over_time: "standard deviation",
    stdvar_over_time: "variance",
    last_over_time: "newest sample",
    first_over_time: "oldest sample",
    present_over_time: "1 where there is a sample",
    absent_over_time: "1 where there is no sample",
  }),
  ...words("q, v[5m]", { quantile_over_time: "quantile q of the samples, 0 to 1" }),
  ...words("v[1h], t", { predict_linear: "value in t seconds, by the slope" }),
  ...words(
    "v[5m]",
    {
      mad_over_time: "median absolute deviation",
      ts_of_first_over_time: "time of the oldest sample",
      ts_of_last_over_time: "time of the newest sample",
      ts_of_min_over_time: "time of the smallest sample",
      ts_of_max_over_time: "time of the largest sample",
    },
    true,
  ),
  ...words("v[5m], sf, tf", { double_exponential_smoothing: "smoothed value" }, true),
];

const kOfInstants: Word[] = [
  ...words("v", {
    abs: "absolute value",
    ceil: "rounded up",
    floor: "rounded down",
    sqrt: "square root",
    exp: "exponential",
    ln: "natural logarithm",
    log2: "binary logarithm",
    log10: "decimal logarithm",
    sgn: "sign: -1, 0, 1",
    sin: "sine",
    cos: "cosine",
    tan: "tangent",
    asin: "arc sine",
    acos: "arc cosine",
    atan: "arc tangent",
    sinh: "hyperbolic sine",
    cosh: "hyperbolic cosine",
    tanh: "hyperbolic tangent",
    asinh: "inverse hyperbolic sine",
    acosh: "inverse hyperbolic cosine",
    atanh: "inverse hyperbolic tangent",
    deg: "radians to degrees",
    rad: "degrees to radians",
    sort: "ascending by value; no effect on a graph",
    sort_desc: "descending by value; no effect on a graph",
    absent: "1 where there is no series",
    scalar: "the value of the only series",
    timestamp: "time of the sample, seconds",
    histogram_count: "of native histograms: none are stored",
    histogram_sum: "of native histograms: none are stored",
    histogram_avg: "of native histograms: none are stored",
    histogram_stddev: "of native histograms: none are stored",
    histogram_stdvar: "of native histograms: none are stored",
  }),
  ...words("s", { vector: "a scalar as a series without labels" }),
  ...words("v, to", { round: "rounded to a multiple of to, default 1" }),
  ...words("v, min, max", { clamp: "limited to min and max" }),
  ...words("v, min", { clamp_min: "at least min" }),
  ...words("v, max", { clamp_max: "at most max" }),
  ...words("q, buckets", { histogram_quantile: "quantile q from the buckets of a histogram" }),
  ...words("lower, upper, buckets", { histogram_fraction: "share between two bounds" }),
  ...words('v, "to", "$1", "from", "(.*)"', { label_replace: "sets a label by a regular expression" }),
  ...words('v, "to", ",", "from"…', { label_join: "joins labels" }),
  ...words("", { time: "time of the step, seconds", pi: "3.14159…" }),
  ...words("t", {
    minute: "minute of the hour, UTC",
    hour: "hour of the day, UTC",
    day_of_week: "day of the week, 0 = Sunday, UTC",
    day_of_month: "day of the month, UTC",
    day_of_year: "day of the year, UTC",
    days_in_month: "number of days of the month, UTC",
    month: "month, UTC",
    year: "year, UTC",
  }),
  ...words('v, "label"…', { sort_by_label: "ascending by labels", sort_by_label_desc: "descending by labels" }, true),
];

export const kFunctions: Word[] = [...kAggregations, ...kOfRanges, ...kOfInstants];

export const kKeywords: Word[] = words("", {
  by: "labels to keep",
  without: "labels to drop",
  on: "labels to match by",
  ignoring: "labels not to match by",
  group_left: "many series on the left match one on the right",
  group_right: "many series on the right match one on the left",
  and: "left series that have a match on the right",
  or: "left series, and right series without a match",
  unless: "left series without a match on the right",
  bool: "compares to 0 and 1 instead of filtering",
  offset: "earlier by a duration",
  atan2: "angle of two series",
});

export const kDurations = ["1m", "5m", "10m", "30m", "1h", "6h", "1d", "7d"];
