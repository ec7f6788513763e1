#include "ingest/series_cache/series_key_match.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "ingest/series_cache/label_fields.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/tsuid.h"

namespace halite::ingest {
namespace {

using namespace std::string_literals;

class KeyMatch : public testing::Test {
 protected:
  KeyMatch() {
    storage::NewSeries added;
    added.metric_uid = 1;
    added.metric = "sys.cpu";
    added.tags = {{.key = "host", .value = "web01", .key_uid = 1, .value_uid = 1},
                  {.key = "dc", .value = "z\xC3\xBCrich", .key_uid = 2, .value_uid = 2}};
    for (const std::uint64_t uid : {1U, 1U, 1U, 2U, 2U}) {
      append_be_width(added.tsuid, uid, 3);
    }
    id_ = *table_->add(added);
  }

  [[nodiscard]] bool matches(KeyGrammar grammar, std::string_view tags,
                             std::string_view metric = "sys.cpu") const {
    return names_series({.grammar = grammar, .metric = metric, .tags = tags}, table_->at(id_));
  }

 private:
  std::unique_ptr<storage::SeriesTable> table_ =
      std::make_unique<storage::SeriesTable>(storage::SeriesLimits{});
  storage::SeriesId id_ = 0;
};

TEST_F(KeyMatch, PutLines) {
  constexpr auto kLine = KeyGrammar::kPutLine;
  EXPECT_TRUE(matches(kLine, "host=web01 dc=z\xC3\xBCrich"));
  EXPECT_TRUE(matches(kLine, "dc=z\xC3\xBCrich host=web01"));
  EXPECT_TRUE(matches(kLine, " host=web01  dc=z\xC3\xBCrich "));
  EXPECT_FALSE(matches(kLine, "host=web01 dc=z\xC3\xBCrich", "sys.cp"));
  EXPECT_FALSE(matches(kLine, "host=web01"));
  EXPECT_FALSE(matches(kLine, ""));
  EXPECT_FALSE(matches(kLine, "host=web01 host=web01"));
  EXPECT_FALSE(matches(kLine, "host=web01 dc=z\xC3\xBCrich host=web01"));
  EXPECT_FALSE(matches(kLine, "host=web01 dc=z\xC3\xBCrich rack=1"));
  EXPECT_FALSE(matches(kLine, "host=web02 dc=z\xC3\xBCrich"));
  EXPECT_FALSE(matches(kLine, "host=web01 dc=z\xFCrich"));
  EXPECT_FALSE(matches(kLine, "host=web01= dc=z\xC3\xBCrich"));
  EXPECT_FALSE(matches(kLine, "host dc=z\xC3\xBCrich"));
}

TEST_F(KeyMatch, Json) {
  constexpr auto kJson = KeyGrammar::kJson;
  EXPECT_TRUE(matches(kJson, "{\"host\":\"web01\",\"dc\":\"z\xC3\xBCrich\"}"));
  EXPECT_TRUE(matches(kJson, "{ \"dc\" : \"z\xC3\xBCrich\",\n\"host\" :\t\"web01\" }"));
  EXPECT_FALSE(matches(kJson, "{\"host\":\"web01\"}"));
  EXPECT_FALSE(matches(kJson, "{}"));
  EXPECT_FALSE(matches(kJson, ""));
  EXPECT_FALSE(matches(kJson, "{\"host\":\"web01\",\"dc\":\"z\\u00fcrich\"}"));
  EXPECT_FALSE(matches(kJson, "{\"host\":\"web01\",\"dc\":\"z\xC3\xBCrich\",}"));
  EXPECT_FALSE(matches(kJson, "{\"host\":\"web01\",\"dc\":\"z\xC3\xBCrich\"} "));
  EXPECT_FALSE(matches(kJson, "{\"host\":\"web01\" \"dc\":\"z\xC3\xBCrich\"}"));
  EXPECT_FALSE(matches(kJson, "{\"host\":\"web01\",\"dc\":7}"));
  EXPECT_FALSE(matches(kJson, "{\"host\":\"web01\",\"dc\":\"z\xC3\xBCrich\"}", "sys\\u002ecpu"));
  EXPECT_FALSE(matches(kJson, "{\"host\":\"web01\",\"dc\":\"z\xC3\xBCrich"));
}

TEST_F(KeyMatch, Names) {
  constexpr auto kNames = KeyGrammar::kNames;
  EXPECT_TRUE(matches(kNames, "host\0web01\0dc\0z\xC3\xBCrich\0"s));
  EXPECT_TRUE(matches(kNames, "dc\0z\xC3\xBCrich\0host\0web01\0"s));
  EXPECT_FALSE(matches(kNames, "host\0web01\0dc\0z\xC3\xBCrich"s));
  EXPECT_FALSE(matches(kNames, "host\0web01\0"s));
  EXPECT_FALSE(matches(kNames, "host"));
}

TEST_F(KeyMatch, Influx) {
  constexpr auto kInflux = KeyGrammar::kInflux;
  EXPECT_TRUE(matches(kInflux, "sys.cpu,host=web01,dc=z\xC3\xBCrich", "value"));
  EXPECT_TRUE(matches(kInflux, "sys.cpu,dc=z\xC3\xBCrich,host=web01,x=", "value"));
  EXPECT_FALSE(matches(kInflux, "sys.cpu,host=web01,dc=z\xC3\xBCrich", "user"));
  EXPECT_FALSE(matches(kInflux, "sys.cp,host=web01,dc=z\xC3\xBCrich", "value"));
  EXPECT_FALSE(matches(kInflux, "sys.cpu", "value"));
  EXPECT_FALSE(matches(kInflux, "sys.cpu,host=web01,dc=z\xC3\xBCrich,", "value"));
  EXPECT_FALSE(matches(kInflux, "sys.cpu,host=web01,dc", "value"));
  EXPECT_FALSE(matches(kInflux, "sys.cpu,host=web01=,dc=z\xC3\xBCrich", "value"));
  EXPECT_FALSE(matches(kInflux, "sys.cpu,host=web01,dc=z\xC3\xBCrich,=", "value"));
  EXPECT_FALSE(matches(kInflux, "sys\\.cpu,host=web01,dc=z\xC3\xBCrich", "value"));
  EXPECT_FALSE(matches(kInflux, "", "value"));
}

TEST_F(KeyMatch, Labels) {
  for (const KeyGrammar grammar : {KeyGrammar::kExposition, KeyGrammar::kPromDump}) {
    EXPECT_TRUE(matches(grammar, "host=\"web01\",dc=\"z\xC3\xBCrich\""));
    EXPECT_TRUE(matches(grammar, "host=\"web01\", dc=\"z\xC3\xBCrich\",x=\"\","));
    EXPECT_TRUE(matches(grammar, "__name__=\"sys.cpu\", host=\"web01\", dc=\"z\xC3\xBCrich\"", ""));
    EXPECT_FALSE(matches(grammar, "__name__=\"sys.cpu\",host=\"web01\",dc=\"z\xC3\xBCrich\""));
    EXPECT_FALSE(matches(grammar, "__name__=\"x\",host=\"web01\",dc=\"z\xC3\xBCrich\"", ""));
    EXPECT_FALSE(matches(grammar, "host=\"web01\",dc=\"z\xC3\xBCrich\"", ""));
    EXPECT_FALSE(matches(grammar, "host=\"web01\",dc=\"z\xC3\xBCrich\"", "sys.cp"));
    EXPECT_FALSE(matches(grammar, "host=\"web01\""));
    EXPECT_FALSE(matches(grammar, "host=\"web01\"dc=\"z\xC3\xBCrich\""));
    EXPECT_FALSE(matches(grammar, "host=\"web01\",dc=\"z\\u00fcrich\""));
    EXPECT_FALSE(matches(grammar, "host=\"web01\",dc=z\xC3\xBCrich"));
    EXPECT_FALSE(matches(grammar, "host=\"web01\",dc=\"z\xC3\xBCrich"));
    EXPECT_FALSE(matches(grammar, ""));
  }
}

TEST_F(KeyMatch, Graphite) {
  constexpr auto kGraphite = KeyGrammar::kGraphite;
  EXPECT_TRUE(matches(kGraphite, "host=web01;dc=z\xC3\xBCrich"));
  EXPECT_TRUE(matches(kGraphite, "dc=z\xC3\xBCrich;host=web01"));
  EXPECT_FALSE(matches(kGraphite, "host=web01;dc=z\xC3\xBCrich", "sys.cp"));
  EXPECT_FALSE(matches(kGraphite, "host=web01;dc=z\xC3\xBCrich;host=web01"));
  EXPECT_FALSE(matches(kGraphite, "host=web01;;dc=z\xC3\xBCrich"));
  EXPECT_FALSE(matches(kGraphite, "host=web01;dc=z\xC3\xBCrich;x="));
  EXPECT_FALSE(matches(kGraphite, "host=web01;dc"));
  EXPECT_FALSE(matches(kGraphite, "host=web01"));
  EXPECT_FALSE(matches(kGraphite, ""));
}

TEST_F(KeyMatch, VmJson) {
  constexpr auto kVmJson = KeyGrammar::kVmJson;
  const std::string tags = "\"host\":\"web01\",\"dc\":\"z\xC3\xBCrich\"";
  EXPECT_TRUE(matches(kVmJson, "{\"__name__\":\"sys.cpu\"," + tags + "}", ""));
  EXPECT_TRUE(matches(kVmJson, "{" + tags + ", \"x\":\"\", \"__name__\" : \"sys.cpu\" }", ""));
  EXPECT_FALSE(matches(kVmJson, "{" + tags + "}", ""));
  EXPECT_FALSE(matches(kVmJson, "{\"__name__\":\"sys.cp\"," + tags + "}", ""));
  EXPECT_FALSE(matches(kVmJson, "{\"__name__\":\"sys.cpu\"," + tags + "", ""));
  EXPECT_FALSE(matches(kVmJson, "{\"__name__\":\"sys.cpu\",\"host\":\"web01\"}", ""));
}

TEST_F(KeyMatch, LabelFields) {
  constexpr auto kFields = KeyGrammar::kLabelFields;
  using Labels = std::vector<std::pair<std::string_view, std::string_view>>;
  const auto fields = [](const Labels& labels) {
    std::string text;
    for (const auto& [name, value] : labels) LabelFields::append(text, name, value);
    return text;
  };
  const std::pair<std::string_view, std::string_view> name{"__name__", "sys.cpu"};
  const std::pair<std::string_view, std::string_view> host{"host", "web01"};
  const std::pair<std::string_view, std::string_view> dc{"dc", "z\xC3\xBCrich"};
  EXPECT_TRUE(matches(kFields, fields({name, dc, host}), ""));
  EXPECT_TRUE(matches(kFields, fields({host, {"x", ""}, dc, name}), ""));
  EXPECT_FALSE(matches(kFields, fields({dc, host}), ""));
  EXPECT_FALSE(matches(kFields, fields({name, dc}), ""));
  EXPECT_FALSE(matches(kFields, fields({name, dc, host, dc}), ""));
  EXPECT_FALSE(matches(kFields, fields({name, dc, host, name}), ""));
  EXPECT_FALSE(matches(kFields, fields({{"__name__", "sys.cp"}, dc, host}), ""));
  EXPECT_FALSE(matches(kFields, fields({name, dc, {"host", "web02"}}), ""));
  const std::string all = fields({name, dc, host});
  EXPECT_FALSE(matches(kFields, std::string_view(all).substr(0, all.size() - 1), ""));
  EXPECT_FALSE(matches(kFields, all + '\x12' + '\0', ""));
  EXPECT_FALSE(matches(kFields, "", ""));
}

}  // namespace
}  // namespace halite::ingest
