#include "tests/unit/storage/api/point_store_contract.h"

#include <bit>
#include <cmath>
#include <limits>
#include <set>

#include <gmock/gmock.h>

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

INSTANTIATE_TEST_SUITE_P(Kinds, PointStoreContract, testing::ValuesIn(point_store_kinds()),
                         [](const auto& kind) { return kind.param.name; });

std::string message(const Result<std::shared_ptr<const Selection>>& selection) {
  return selection ? "" : selection.error().message;
}

TEST_P(PointStoreContract, OneSeriesOneId) {
  const auto ids = intern_all({"m host=a", "m host=b", "m host=a", "n host=a", "m dc=x host=a"});
  EXPECT_EQ(ids[0], ids[2]);
  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), 4u);
  EXPECT_EQ(intern("m host=a"), ids[0]);
  const Series& series = store().series(ids[4]);
  EXPECT_EQ(name_of(series), parse_series("m dc=x host=a"));
  EXPECT_EQ(to_hex(series.tsuid.bytes()).substr(0, 6), "000001");
  ASSERT_EQ(series.tags.size(), 2u);
  EXPECT_EQ(series.tags[0].key, "host");  // by uid: seen first
  EXPECT_EQ(series.tags[0].key_uid, 1u);
  EXPECT_EQ(series.tags[1].key, "dc");
}

TEST_P(PointStoreContract, NamesAreMadeOnlyWhereAllowed) {
  const auto ask = [this](const std::string& name, CreateNames create) {
    std::vector<SeriesName> names{parse_series(name), parse_series("known host=a")};
    const auto ids = run(store().intern(std::move(names), create)).value();
    EXPECT_TRUE(ids[1]) << "one bad name costs only itself";
    return ids[0] ? "" : ids[0].error().message;
  };
  intern("known host=a");
  EXPECT_EQ(ask("x host=a", CreateNames{false, true, true}), "No such name for 'metrics': 'x'");
  EXPECT_EQ(ask("known x=a", CreateNames{true, false, true}), "No such name for 'tagk': 'x'");
  EXPECT_EQ(ask("known host=x", CreateNames{true, true, false}), "No such name for 'tagv': 'x'");
  EXPECT_EQ(ask("known host=x", CreateNames{false, false, true}), "");
  EXPECT_EQ(ask("known host=x", CreateNames{false, false, false}), "");
}

TEST_P(PointStoreContract, EveryBitComesBack) {
  const SeriesId id = intern("m host=a");
  SeriesPoints expected;
  PointBatch batch;
  TimestampMs time = kBase;
  const auto add = [&](ValueBits value, std::uint8_t flags) {
    batch.add(id, time, value, flags);
    expected[time] = StoredPoint{value, (flags & kFloat) != 0};
    time += 1000;
  };
  using Limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t value : std::initializer_list<std::int64_t>{
           0, 1, -1, 127, -128, 128, 32767, -32769, 1ll << 31, Limits::max(), Limits::min()}) {
    add(integer_bits(value), 0);
  }
  for (const double value : {0.0, -0.0, 1.5, -4.25, 1e300, 0.1, 5e-324, HUGE_VAL, -HUGE_VAL}) {
    add(double_bits(value), kFloat);
    add(double_bits(value), kFloat | kWide);
  }
  add(0x7FF8000000000001ull, kFloat);
  add(0xFFF4DEADBEEF0001ull, kFloat);
  put(batch);
  const auto points = scan(select("m"), {kBase, kBase + kHour});
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points.begin()->second, expected);
}

// Text formats have them (docs/data-model.md); only OpenTSDB's own doors refuse them.
TEST_P(PointStoreContract, SeriesWithoutTagsAndWithAnyNames) {
  const SeriesId bare = intern("m");
  EXPECT_EQ(intern("m"), bare);
  EXPECT_NE(intern("m host=a"), bare);
  const SeriesName odd{.metric = "a:b {\n}",
                       .tags = {{.key = "k \"=", .value = "v,\\\xF0\x9F\x98\x80"}}};
  const auto ids = run(store().intern({odd}, CreateNames{})).value();
  ASSERT_TRUE(ids[0]);
  put(bare, kBase, 1);
  put(intern("m host=a"), kBase, 2);
  put(*ids[0], kBase, 3);
  for (int restarts = 0; restarts < 2; ++restarts) {
    Points expected;
    expected[parse_series("m")][kBase] = {double_bits(1), true};
    expected[parse_series("m host=a")][kBase] = {double_bits(2), true};
    EXPECT_EQ(scan(select("m"), {kBase, kBase + kHour}), expected);
    EXPECT_THAT(tags_found(select("m", {}, true), {kBase, kBase + kHour}), ElementsAre(""));
    const Points odd_points{{odd, {{kBase, {double_bits(3), true}}}}};
    EXPECT_EQ(scan(select(odd.metric), {kBase, kBase + kHour}), odd_points);
    EXPECT_EQ(name_of(store().series(intern("m"))), parse_series("m"));
    reopen();
  }
}

TEST_P(PointStoreContract, RangesAreHalfOpen) {
  const SeriesId id = intern("m host=a");
  for (const TimestampMs time : {kBase - 1, kBase, kBase + 1, kBase + kHour - 1, kBase + kHour}) {
    put_integer(id, time, time);
  }
  const auto times = [this](TimeRange range) {
    std::vector<TimestampMs> found;
    for (const auto& [name, points] : scan(select("m"), range)) {
      for (const auto& [time, point] : points) found.push_back(time - kBase);
    }
    return found;
  };
  EXPECT_THAT(times({kBase, kBase + kHour}), ElementsAre(0, 1, kHour - 1));
  EXPECT_THAT(times({kBase - 1, kBase + 1}), ElementsAre(-1, 0));
  EXPECT_THAT(times({kBase + 1, kBase + 2}), ElementsAre(1));
  EXPECT_THAT(times({kBase, kBase}), IsEmpty());
  EXPECT_THAT(times({0, std::numeric_limits<TimestampMs>::max()}),
              ElementsAre(-1, 0, 1, kHour - 1, kHour));
}

TEST_P(PointStoreContract, ManyPointsInOneRow) {
  const SeriesId id = intern("m host=a");
  for (const std::size_t count : {1023u, 1024u, 1025u, 5000u}) {
    PointBatch batch;
    for (std::size_t i = 0; i < count; ++i) {
      batch.add(id, kBase + static_cast<TimestampMs>(i * 7), integer_bits(static_cast<int>(i)),
                kMillis);
    }
    put(std::move(batch));
    const auto points = scan(select("m"), {kBase, kBase + kHour});
    ASSERT_EQ(points.size(), 1u);
    EXPECT_EQ(points.begin()->second.size(), count);
    EXPECT_EQ(points.begin()->second.rbegin()->second.value, count - 1);
  }
}

TEST_P(PointStoreContract, ThePointAppendedLastWins) {
  const std::vector<SeriesId> ids = intern_all({"m host=a", "m host=b", "m host=c"});
  Points expected;
  std::vector<Completion> durable;
  for (int round = 0; round < 300; ++round) {
    PointBatch batch;
    for (int i = 0; i < 4; ++i) {
      const SeriesId id = ids[static_cast<std::size_t>(round + i) % 3];
      const TimestampMs time = kBase + 1000 * ((round * 7 + i) % 5);
      const bool is_float = (round / 3 + i) % 2 == 0;
      const ValueBits value = is_float ? double_bits(round + 0.5 * i) : integer_bits(round * i);
      batch.add(id, time, value, is_float ? kFloat : 0);
      expected[name_of(store().series(id))][time] = StoredPoint{value, is_float};
    }
    const Result<Accepted> accepted = run(store().append(std::move(batch)));
    ASSERT_TRUE(accepted);
    durable.push_back(accepted->durable);
  }
  for (const Completion& each : durable) ASSERT_TRUE(run(each.wait()));
  EXPECT_EQ(scan(select("m"), {kBase, kBase + kHour}), expected);
}

TEST_P(PointStoreContract, TwiceInOneBatchTheLastWins) {
  const SeriesId id = intern("m host=a");
  PointBatch batch;
  batch.add(id, kBase, integer_bits(1), 0);
  batch.add(id, kBase + 1000, integer_bits(7), 0);
  batch.add(id, kBase, double_bits(2.5), kFloat);
  put(std::move(batch));
  const auto points = scan(select("m"), {kBase, kBase + kHour});
  const SeriesPoints expected{{kBase, {double_bits(2.5), true}},
                              {kBase + 1000, {integer_bits(7), false}}};
  EXPECT_EQ(points.begin()->second, expected);
}

TEST_P(PointStoreContract, RefusedPointsCostOnlyThemselves) {
  const SeriesId id = intern("m host=a");
  PointBatch batch;
  batch.add(id, -5000, integer_bits(1), 0);
  batch.add(id, kBase, integer_bits(2), 0);
  batch.add(id, std::numeric_limits<TimestampMs>::max(), integer_bits(3), 0);
  const Result<Accepted> accepted = run(store().append(std::move(batch)));
  ASSERT_TRUE(accepted);
  ASSERT_EQ(accepted->refused.size(), 2u);
  EXPECT_EQ(accepted->refused[0].index, 0u);
  EXPECT_EQ(accepted->refused[1].index, 2u);
  EXPECT_EQ(accepted->refused[0].error.code, Errc::kInvalidArgument);
  ASSERT_TRUE(run(accepted->durable.wait()));
  EXPECT_EQ(scan(select("m"), {kBase, kBase + 1}).begin()->second.size(), 1u);

  const Result<Accepted> none = run(store().append(PointBatch()));
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->durable.finished());
}

// An error: none is stored. Durable failed: nobody knows, and sending them again does no harm.
TEST_P(PointStoreContract, WhatDidNotGoWellMayBeSentAgain) {
  if (!subject_->break_writes(false)) GTEST_SKIP() << "nothing can be broken here";
  constexpr int kRounds = 24;
  std::vector<std::string> names;
  for (int i = 0; i < 20; ++i) names.push_back("m host=h" + std::to_string(i));
  const std::vector<SeriesId> ids = intern_all(names);
  const auto batch_at = [&ids](TimestampMs time) {
    PointBatch batch;
    for (const SeriesId id : ids) batch.add(id, time, integer_bits(id), 0);
    return batch;
  };
  std::map<TimestampMs, bool> failed;  // whether none is stored; of the times that did not go well
  for (int round = 0; round < kRounds; ++round) {
    const TimestampMs time = kBase + round * 1000;
    subject_->break_writes(round % 8 >= 4);
    const Result<Accepted> accepted = run(store().append(batch_at(time)));
    if (!accepted) {
      failed[time] = true;
    } else if (!run(accepted->durable.wait())) {
      failed[time] = false;
    }
  }
  subject_->break_writes(false);
  EXPECT_EQ(failed.size(), kRounds / 2u);
  const auto points_at = [this](TimestampMs time) {
    std::size_t found = 0;
    for (const auto& [name, points] : scan(select("m"), {time, time + 1})) found += points.size();
    return found;
  };
  for (const auto& [time, none] : failed) {
    if (none) EXPECT_EQ(points_at(time), 0u) << time;
  }
  for (const auto& [time, none] : failed) put(batch_at(time));
  for (const bool reopened : {false, true}) {
    if (reopened) reopen();
    for (int round = 0; round < kRounds; ++round) {
      EXPECT_EQ(points_at(kBase + round * 1000), ids.size()) << round;
    }
  }
}

TEST_P(PointStoreContract, Filters) {
  for (const char* name : {"m host=web01", "m host=web02 dc=lga", "m host=db01 dc=lga",
                           "m host=db01 dc=sjc", "m dc=sjc", "other host=web01"}) {
    put_integer(intern(name), kBase, 1);
  }
  const auto found = [this](std::vector<TagFilter> filters, bool explicit_tags = false) {
    return tags_found(select("m", std::move(filters), explicit_tags), {kBase, kBase + kHour});
  };
  using F = TagFilter;
  using enum FilterType;
  EXPECT_EQ(found({}).size(), 5u);
  EXPECT_THAT(found({F{kLiteralOr, "host", "web01"}}), ElementsAre("host=web01"));
  EXPECT_THAT(found({F{kLiteralOr, "host", "web01|db01"}}),
              UnorderedElementsAre("host=web01", "dc=lga host=db01", "dc=sjc host=db01"));
  EXPECT_THAT(found({F{kLiteralOr, "host", "web01"}, F{kLiteralOr, "host", "web02"}}),
              UnorderedElementsAre("host=web01", "dc=lga host=web02"));
  EXPECT_THAT(found({F{kLiteralOr, "host", "web01|web02"}, F{kWildcard, "host", "*2"}}),
              ElementsAre("dc=lga host=web02"));
  EXPECT_THAT(
      found({F{kWildcard, "dc", "*"}}),
      UnorderedElementsAre("dc=lga host=web02", "dc=lga host=db01", "dc=sjc host=db01", "dc=sjc"));
  EXPECT_THAT(found({F{kNotLiteralOr, "host", "web01|unknown"}}),
              UnorderedElementsAre("dc=lga host=web02", "dc=lga host=db01", "dc=sjc host=db01"));
  EXPECT_THAT(found({F{kRegexp, "host", "^db"}, F{kILiteralOr, "dc", "LGA"}}),
              ElementsAre("dc=lga host=db01"));
  EXPECT_THAT(found({F{kNotKey, "dc", ""}}), ElementsAre("host=web01"));
  EXPECT_THAT(found({F{kNotKey, "dc", ""}, F{kWildcard, "dc", "*"}}), IsEmpty());
  EXPECT_THAT(found({F{kWildcard, "host", "*"}}, true), ElementsAre("host=web01"));
  EXPECT_THAT(found({F{kWildcard, "host", "*"}, F{kWildcard, "dc", "s*"}}, true),
              ElementsAre("dc=sjc host=db01"));
  EXPECT_THAT(found({F{kRegexp, "host", "none"}}), IsEmpty());
}

TEST_P(PointStoreContract, UnknownNamesInQuestions) {
  put_integer(intern("m host=a"), kBase, 1);
  const auto ask = [this](const std::string& metric, std::vector<TagFilter> filters) {
    SeriesQuery query;
    query.metric = metric;
    query.filters = std::move(filters);
    return run(store().select(std::move(query), {}));
  };
  using F = TagFilter;
  using enum FilterType;
  EXPECT_EQ(message(ask("x", {})), "No such name for 'metrics': 'x'");
  EXPECT_EQ(message(ask("m", {F{kWildcard, "x", "*"}})), "No such name for 'tagk': 'x'");
  EXPECT_EQ(message(ask("m", {F{kLiteralOr, "host", "a|x"}})), "No such name for 'tagv': 'x'");
  EXPECT_EQ(message(ask("m", {F{kNotLiteralOr, "host", "a|x"}})), "");
  SeriesQuery skip;
  skip.metric = "m";
  skip.filters = {F{kLiteralOr, "host", "x"}};
  skip.skip_unknown_values = true;
  const auto selection = run(store().select(skip, {}));
  ASSERT_TRUE(selection);
  EXPECT_THAT(scan(*selection, {kBase, kBase + kHour}), IsEmpty());
  const auto bad = ask("m", {F{kRegexp, "host", "("}});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().code, Errc::kInvalidArgument);
}

TEST_P(PointStoreContract, SeriesByTsuid) {
  const auto ids = intern_all({"m host=a", "m host=b", "n host=a"});
  for (const SeriesId id : ids) put_integer(id, kBase, 1);
  const auto ask = [this](std::vector<Bytes> tsuids) {
    SeriesQuery query;
    for (const Bytes& hex : tsuids) query.tsuids.push_back(from_hex(hex).value());
    return run(store().select(std::move(query), {}));
  };
  const auto selection = ask({"000001000001000002"});
  ASSERT_TRUE(selection);
  EXPECT_THAT(tags_found(*selection, {kBase, kBase + kHour}), ElementsAre("host=b"));
  EXPECT_EQ(message(ask({"000001000001000001", "000002000001000001"})),
            "One or more TSUIDs did not share the same metric [000001] [000002]");
  EXPECT_EQ(message(ask({"000001000001000009"})), "No such unique ID for 'tagv': [0, 0, 9]");
  EXPECT_FALSE(ask({"00000100"}));
  // All its names exist, but no such series: nothing, not an error.
  intern("o dc=a");
  const auto none = ask({"000001000002000001"});
  ASSERT_TRUE(none);
  EXPECT_THAT(tags_found(*none, {kBase, kBase + kHour}), IsEmpty());
}

TEST_P(PointStoreContract, SeriesMadeAfterTheSelectionAreSeen) {
  put_integer(intern("m host=a"), kBase, 1);
  const auto selection = select("m", {TagFilter{FilterType::kWildcard, "host", "*"}});
  EXPECT_EQ(tags_found(selection, {kBase, kBase + kHour}).size(), 1u);
  put_integer(intern("m host=b"), kBase, 1);
  EXPECT_EQ(tags_found(selection, {kBase, kBase + kHour}).size(), 2u);
}

TEST_P(PointStoreContract, LookupListsSeriesByTsuid) {
  intern_all({"m host=b", "m host=a", "m host=c dc=x", "n host=a"});
  const auto names = [this](std::size_t limit) {
    std::vector<std::string> found;
    for (const SeriesId id : run(store().lookup(select("m"), limit)).value()) {
      found.emplace_back(store().series(id).tags.front().value);
    }
    return found;
  };
  EXPECT_THAT(names(0), ElementsAre("b", "a", "c"));
  EXPECT_THAT(names(2), ElementsAre("b", "a"));
  EXPECT_THAT(names(9), ElementsAre("b", "a", "c"));
  reopen();
  EXPECT_THAT(names(0), ElementsAre("b", "a", "c"));
}

TEST_P(PointStoreContract, LastPoints) {
  const auto ids = intern_all({"m host=a", "m host=b", "m host=c", "m host=none"});
  put(ids[0], kNow - 1000, 1.5);
  put(ids[0], kNow - 2000, 2.5);
  put_integer(ids[1], kNow - 100 * kHour, 7);
  put_integer(ids[2], kNow + kHour, 8);
  const auto last = [this](TimeRange range) {
    std::map<std::string, std::pair<TimestampMs, double>> found;
    const auto points = run(store().last(select("m"), range));
    EXPECT_TRUE(points) << points.error().message;
    EXPECT_TRUE(std::ranges::is_sorted(*points, {}, &LastPoint::series));
    for (const LastPoint& point : *points) {
      const double value =
          point.is_float ? as_double(point.value) : static_cast<double>(as_integer(point.value));
      found[std::string(store().series(point.series).tags.front().value)] = {point.time - kNow,
                                                                             value};
    }
    return found;
  };
  using Found = std::map<std::string, std::pair<TimestampMs, double>>;
  const Found all{{"a", {-1000, 1.5}}, {"b", {-100 * kHour, 7}}, {"c", {kHour, 8}}};
  EXPECT_EQ(last({0, std::numeric_limits<TimestampMs>::max()}), all);
  EXPECT_EQ(last({kNow - 200 * kHour, kNow + 2 * kHour}), all);
  EXPECT_EQ(last({kNow - 200 * kHour, kNow - 1000}),
            (Found{{"a", {-2000, 2.5}}, {"b", {-100 * kHour, 7}}}));
  EXPECT_EQ(last({kNow - 90 * kHour, kNow}), (Found{{"a", {-1000, 1.5}}}));
  EXPECT_EQ(last({kNow, kNow}), Found());
}

TEST_P(PointStoreContract, DeletesExactlyWhatWasAsked) {
  const auto ids = intern_all({"m host=a", "m host=b"});
  for (int i = 0; i < 10; ++i) {
    put_integer(ids[0], kBase + kHour - 5000 + 1000 * i, i);
    put(ids[1], kBase + kHour - 5000 + 1000 * i, i);
  }
  const auto a = select("m", {TagFilter{FilterType::kLiteralOr, "host", "a"}});
  EXPECT_EQ(run(store().delete_range(a, {kBase + kHour - 2000, kBase + kHour + 2000})).value(), 4u);
  EXPECT_EQ(run(store().delete_range(a, {kBase + kHour - 2000, kBase + kHour + 2000})).value(), 0u);
  const auto points = scan(select("m"), {kBase, kBase + 2 * kHour});
  EXPECT_EQ(points.at(parse_series("m host=a")).size(), 6u);
  EXPECT_EQ(points.at(parse_series("m host=b")).size(), 10u);
  EXPECT_FALSE(points.at(parse_series("m host=a")).contains(kBase + kHour));
  put_integer(ids[0], kBase + kHour, 99);
  const auto again = scan(a, {kBase + kHour, kBase + kHour + 1});
  EXPECT_EQ(again.at(parse_series("m host=a")).at(kBase + kHour).value, 99u);
}

TEST_P(PointStoreContract, SaysWhichPointsChanged) {
  PointChanges* const changes = store().changes();
  if (changes == nullptr) return;  // it cannot tell
  const PointChanges::Mark mark = changes->mark();
  const auto unchanged_before = [&] { return changes->unchanged_before(mark); };
  const auto ids = intern_all({"m host=a", "m host=b"});
  EXPECT_EQ(unchanged_before(), std::numeric_limits<TimestampMs>::max());
  put(ids[0], kBase + kHour, 1);
  EXPECT_EQ(unchanged_before(), kBase + kHour);
  put(ids[1], kBase + 2 * kHour, 1);
  EXPECT_EQ(unchanged_before(), kBase + kHour);
  put(ids[1], kBase + 5000, 1);
  EXPECT_EQ(unchanged_before(), kBase + 5000);
  ASSERT_TRUE(run(store().delete_range(select("m"), {kBase + 2000, kBase + 4000})));
  EXPECT_EQ(unchanged_before(), kBase + 2000);
  ASSERT_TRUE(run(store().flush()));
  ASSERT_TRUE(run(store().seal()));
  EXPECT_EQ(unchanged_before(), kBase + 2000);
}

TEST_P(PointStoreContract, Suggests) {
  intern_all({"sys.cpu host=web01", "sys.mem host=web02", "net.in dc=lga"});
  using Names = std::vector<std::string>;
  EXPECT_EQ(run(store().suggest(NameKind::kMetric, "sys", 10)).value(),
            (Names{"sys.cpu", "sys.mem"}));
  EXPECT_EQ(run(store().suggest(NameKind::kTagKey, "", 10)).value(), (Names{"dc", "host"}));
  EXPECT_EQ(run(store().suggest(NameKind::kTagValue, "web", 1)).value(), Names{"web01"});
}

TEST_P(PointStoreContract, ListsTheNamesOfSeries) {
  using Names = std::vector<std::string>;
  const auto names = [this](NameKind kind, const std::string& key, TimestampMs since = 0) -> Names {
    Names found;
    const auto listed = run(store().series_names({kind, key, since}, {},
                                                 [&found](std::string_view name) -> Result<void> {
                                                   found.emplace_back(name);
                                                   return {};
                                                 }));
    EXPECT_TRUE(listed) << listed.error().message;
    std::ranges::sort(found);
    return found;
  };
  const auto ignored = [](std::string_view) { return Result<void>(); };
  if (const auto listed = run(store().series_names({}, {}, ignored)); !listed) {
    EXPECT_EQ(listed.error().code, Errc::kUnsupported) << listed.error().message;
    return;
  }
  EXPECT_EQ(names(NameKind::kMetric, ""), Names());
  for (const std::string name : {"m host=a", "m host=b dc=x", "n host=c", "n dc=a"}) {
    put(intern(name), kBase, 1.5);
  }
  EXPECT_EQ(names(NameKind::kTagValue, "host"), (Names{"a", "b", "c"}));
  EXPECT_EQ(names(NameKind::kTagValue, "dc", kBase), (Names{"a", "x"}));
  EXPECT_EQ(names(NameKind::kTagValue, "nokey"), Names());
  EXPECT_EQ(names(NameKind::kTagKey, ""), (Names{"dc", "host"}));
  EXPECT_EQ(names(NameKind::kMetric, ""), (Names{"m", "n"}));
  reopen();
  put(intern("o host=d"), kBase, 1.5);
  EXPECT_EQ(names(NameKind::kTagValue, "host"), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(names(NameKind::kTagValue, "host", kBase), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(names(NameKind::kTagKey, ""), (Names{"dc", "host"}));
  EXPECT_EQ(names(NameKind::kMetric, ""), (Names{"m", "n", "o"}));
  const auto stopped = run(store().series_names(
      {NameKind::kTagValue, "host", 0}, {},
      [](std::string_view) -> Result<void> { return fail(Errc::kCancelled, "enough"); }));
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "enough");
}

TEST_P(PointStoreContract, ARestartForgetsNothing) {
  put(intern("m host=a"), kBase, 1.5);
  const Bytes tsuid = store().series(intern("m host=a dc=b")).tsuid.bytes();
  put(intern("m host=a dc=b"), kBase + 1000, 2.5);
  const Points before = scan(select("m"), {kBase, kBase + kHour});
  EXPECT_EQ(before.size(), 2u);
  reopen();
  EXPECT_EQ(scan(select("m"), {kBase, kBase + kHour}), before);
  EXPECT_EQ(store().series(intern("m host=a dc=b")).tsuid.bytes(), tsuid);
  reopen();
  SeriesQuery query;
  query.tsuids = {tsuid};
  const auto by_tsuid = run(store().select(query, {})).value();
  const auto last = run(store().last(by_tsuid, {0, kNow})).value();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last.front().time, kBase + 1000);
  EXPECT_EQ(run(store().lookup(by_tsuid, 0))->size(), 1u);
  reopen();
  put(intern("m host=a dc=b"), kBase + 1000, 3.5);
  const auto points = scan(select("m"), {kBase + 1000, kBase + kHour});
  EXPECT_EQ(points.at(parse_series("m host=a dc=b")).at(kBase + 1000).value, double_bits(3.5));
}

}  // namespace
}  // namespace halite::storage
