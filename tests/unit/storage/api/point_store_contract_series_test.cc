#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "tests/unit/storage/api/point_store_contract.h"

namespace halite::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

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

}  // namespace
}  // namespace halite::storage
