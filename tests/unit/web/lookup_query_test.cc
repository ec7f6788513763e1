#include "web/handlers/lookup_query.h"

#include <gtest/gtest.h>

#include "storage/catalog/series_table.h"

namespace halite::web {
namespace {

Result<LookupQuery> parsed_lookup(std::string m, std::string limit = "") {
  Target target;
  if (!m.empty()) target.parameters.emplace_back("m", std::move(m));
  if (!limit.empty()) target.parameters.emplace_back("limit", std::move(limit));
  return parse_lookup_uri(target);
}

using Tags = std::vector<std::pair<std::string, std::string>>;

TEST(LookupQuery, Uri) {
  const auto query = parsed_lookup("sys.cpu{host=web01,host=web02,dc=*,=lga,rack=}");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->metric, "sys.cpu");
  EXPECT_EQ(query->tags,
            (Tags{{"host", "web01"}, {"host", "web02"}, {"dc", "*"}, {"", "lga"}, {"rack", ""}}));
  EXPECT_EQ(query->any_key_values, std::vector<std::string>{"lga"});
  EXPECT_EQ(query->limit, 25);

  const storage::SeriesQuery wanted = series_query(*query, query->metric);
  const std::vector<storage::TagFilter> filters = {
      {storage::FilterType::kWildcard, "dc", "*"},
      {storage::FilterType::kWildcard, "rack", "*"},
      {storage::FilterType::kLiteralOr, "host", "web01|web02"}};
  EXPECT_EQ(wanted.filters, filters);
}

TEST(LookupQuery, AnyValueTakesThoseNamedToo) {
  const storage::SeriesQuery wanted = series_query(*parsed_lookup("m{host=a,host=*}"), "m");
  const std::vector<storage::TagFilter> filters = {{storage::FilterType::kWildcard, "host", "*"}};
  EXPECT_EQ(wanted.filters, filters);
}

TEST(LookupQuery, WithoutMetric) {
  EXPECT_EQ(parsed_lookup("*")->metric, "");
  EXPECT_EQ(parsed_lookup("{host=a}")->metric, "");
  EXPECT_EQ(parsed_lookup("*{host=a}")->metric, "");
  EXPECT_EQ(parsed_lookup("{}").error().message,
            "Missing metric and tags. Please supply at least one value.");
  EXPECT_EQ(parsed_lookup("").error().message, "Missing parameter <code>m</code>");
}

TEST(LookupQuery, Limits) {
  EXPECT_EQ(parsed_lookup("m", "0")->limit, 0);
  EXPECT_EQ(parsed_lookup("m", "-1")->limit, -1);
  EXPECT_EQ(parsed_lookup("m", "1000")->limit, 1000);
  EXPECT_EQ(parsed_lookup("m", "x").error().message, "Unable to convert 'limit' to a valid number");
}

TEST(LookupQuery, Faults) {
  EXPECT_EQ(parsed_lookup("m{host=a").error().message, "Unable to parse query");
  EXPECT_EQ(parsed_lookup("m{host}").error().message, "Unable to parse query");
  EXPECT_EQ(parsed_lookup("m{a=b=c}").error().message, "Unable to parse query");
}

TEST(LookupQuery, Post) {
  const auto query = parse_lookup_post(
      R"({"metric":"m","tags":[{"key":"host","value":"*"},{"key":"*","value":"x"}],"limit":7})");
  ASSERT_TRUE(query);
  EXPECT_EQ(query->metric, "m");
  EXPECT_EQ(query->tags, (Tags{{"host", "*"}, {"*", "x"}}));
  EXPECT_EQ(query->limit, 7);
  EXPECT_EQ(parse_lookup_post("{}")->metric, "");
  EXPECT_FALSE(parse_lookup_post(R"({"tags":{"host":"a"}})"));
  EXPECT_FALSE(parse_lookup_post(R"({"tags":null})")->show_tags);
}

TEST(LookupQuery, ValuesOfAnyKey) {
  const LookupQuery query = *parsed_lookup("m{=a,=b}");
  storage::SeriesTable table({.series = 2});
  storage::NewSeries series;
  series.tsuid = "111two";
  series.tags = {{"x", "a", 1, 1}, {"y", "c", 2, 2}};
  EXPECT_FALSE(fits_any_key(query, table.at(*table.add(series))));
  series.tsuid = "111three";
  series.tags.push_back({"z", "b", 3, 3});
  EXPECT_TRUE(fits_any_key(query, table.at(*table.add(series))));
}

}  // namespace
}  // namespace halite::web
