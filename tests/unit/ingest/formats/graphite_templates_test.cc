#include "ingest/formats/graphite_templates.h"

#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ingest/formats/point_format.h"
#include "ingest/import/series_points.h"

namespace halite::ingest {
namespace {

// The series of one line, as text.
class Last final : public PointReceiver {
 public:
  explicit Last(const PointParser& parser) : parser_(parser) {}
  void series(const SeriesKey& key) override {
    const auto name = parser_.series_name(key);
    said = name ? text_of(*name) : name.error().text;
  }
  void point(PointBits /*point*/) override {}
  void refuse(std::string reason) override { said = std::move(reason); }

  std::string said;

 private:
  const PointParser& parser_;
};

std::string series_of(std::string_view templates, std::string_view path) {
  auto parsed = GraphiteTemplates::parse(templates);
  if (!parsed) return parsed.error();
  FormatOptions options;
  options.graphite_templates = std::make_shared<const GraphiteTemplates>(*std::move(parsed));
  const PointRules rules({}, "");
  const auto parser = make_parser(Format::kGraphite, options, rules);
  Last last(*parser);
  parser->line(fmt::format("{} 1 1700000000", path), last);
  return last.said;
}

std::string wrong(std::string_view templates) {
  const auto parsed = GraphiteTemplates::parse(templates);
  return parsed ? "" : parsed.error();
}

TEST(GraphiteTemplates, CutPaths) {
  EXPECT_EQ(series_of("servers.* .host.resource.measurement*", "servers.a.cpu.load.10"),
            "load.10 host=a resource=cpu");
  EXPECT_EQ(series_of("host.measurement", "a.load"), "load host=a");
  EXPECT_EQ(series_of("host.measurement", "a.load.rest"), "load host=a");
  EXPECT_EQ(series_of("measurement.measurement.host", "cpu.load.a"), "cpu.load host=a");
  EXPECT_EQ(series_of("region.region.host.measurement*", "eu.west.a.m.n"),
            "m.n host=a region=eu.west");
  EXPECT_EQ(series_of("..measurement", "a.b.c"), "c");
  EXPECT_EQ(series_of("host.measurement dc=lga,rack=1", "a.load"), "load dc=lga host=a rack=1");
  EXPECT_EQ(series_of("host.measurement.rack", "a.load"), "load host=a") << "a word is missing";
  EXPECT_EQ(series_of("host.measurement.rack", "a.load..x"), "load host=a") << "an empty word";
}

TEST(GraphiteTemplates, FieldsAreAddedAsInfluxDbsAre) {
  EXPECT_EQ(series_of("measurement.host.field", "cpu.a.user"), "cpu_user host=a");
  EXPECT_EQ(series_of("measurement.host.field*", "cpu.a.user.p99"), "cpu_user.p99 host=a");
  EXPECT_EQ(series_of("measurement.host.field", "cpu.a.value"), "cpu host=a");
  EXPECT_EQ(series_of("measurement.host.field", "cpu.a"), "cpu host=a");
}

TEST(GraphiteTemplates, ThePathStaysWhereNoneFits) {
  EXPECT_EQ(series_of("servers.* .host.measurement*", "clients.a.load"), "clients.a.load");
  EXPECT_EQ(series_of("servers.* .host.measurement*", "servers"), "servers");
  EXPECT_EQ(series_of("..host.measurement", "a.b"), "a.b") << "no word for the metric";
  EXPECT_EQ(series_of("host.measurement", "a.load;dc=lga"), "a.load dc=lga") << "has tags";
  EXPECT_EQ(series_of("host.measurement", "a.load{dc=\"lga\"}"), "a.load dc=lga");
  EXPECT_EQ(series_of("", "a.load"), "a.load");
}

TEST(GraphiteTemplates, TheFilterThatSaysMostWins) {
  constexpr std::string_view kTemplates =
      "measurement* t=none; servers.* measurement* t=any; servers.a measurement* t=a;"
      "servers.*.cpu measurement* t=cpu\n*.a.mem measurement* t=mem";
  EXPECT_EQ(series_of(kTemplates, "x.y"), "x.y t=none");
  EXPECT_EQ(series_of(kTemplates, "servers.b.x"), "servers.b.x t=any");
  EXPECT_EQ(series_of(kTemplates, "servers.a.x"), "servers.a.x t=a");
  EXPECT_EQ(series_of(kTemplates, "servers.b.cpu"), "servers.b.cpu t=cpu");
  EXPECT_EQ(series_of(kTemplates, "servers.a.cpu"), "servers.a.cpu t=a") << "a name before '*'";
  EXPECT_EQ(series_of(kTemplates, "clients.a.mem"), "clients.a.mem t=mem");
  EXPECT_EQ(series_of(kTemplates, "servers"), "servers t=none");
}

TEST(GraphiteTemplates, BadOnesAreRefusedByName) {
  EXPECT_EQ(wrong(""), "");
  EXPECT_EQ(wrong(" ; \n ;"), "");
  EXPECT_EQ(wrong("host.load"), "the template \"host.load\" has no word \"measurement\"");
  EXPECT_EQ(
      wrong("measurement*.host"),
      "the template \"measurement*.host\" has words behind measurement*, which takes the rest");
  EXPECT_EQ(wrong("serv* measurement"),
            "the template \"serv* measurement\" has the word \"serv*\" in its filter: '*' stands "
            "for a whole word");
  EXPECT_EQ(wrong("measurement.h*"),
            "the template \"measurement.h*\" has the word \"h*\", which is no tag key");
  EXPECT_EQ(wrong("a b measurement"),
            "the template \"a b measurement\" has more parts than filter, template and tags");
  EXPECT_EQ(wrong("measurement a="),
            "the template \"measurement a=\" has the tag \"a=\", which is not key=value");
  EXPECT_EQ(wrong("measurement a=b,"),
            "the template \"measurement a=b,\" has the tag \"\", which is not key=value");
  EXPECT_EQ(wrong("a.measurement a=b"),
            "the template \"a.measurement a=b\" has the tag key \"a\" twice");
  EXPECT_EQ(wrong("measurement a=b,a=c"),
            "the template \"measurement a=b,a=c\" has the tag key \"a\" twice");
  EXPECT_EQ(wrong("measurement; host.measurement"),
            "the template \"host.measurement\" is the second without a filter");
  EXPECT_EQ(wrong("a.* measurement; a.* x.measurement"),
            "the template \"a.* x.measurement\" has the filter of another one");
  EXPECT_EQ(wrong("measurement\xFF"), "the template \"measurement\xFF\" is not UTF-8");
  std::string words = "measurement";
  for (std::size_t i = 1; i < GraphiteTemplates::kWordsMax; ++i) words += ".a";
  EXPECT_EQ(wrong(words), "");
  EXPECT_TRUE(wrong(words + ".a").ends_with(" has more than 64 words"));
  std::string many;
  for (std::size_t i = 0; i < GraphiteTemplates::kTemplatesMax; ++i) {
    many += fmt::format("f{} measurement;", i);
  }
  EXPECT_EQ(wrong(many), "");
  EXPECT_EQ(wrong(many + "measurement"), "there are more than 1000 templates");
}

}  // namespace
}  // namespace halite::ingest
