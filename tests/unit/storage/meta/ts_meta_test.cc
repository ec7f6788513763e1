#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/meta/objects/ts_meta_store.h"
#include "tests/unit/storage/meta/name_world.h"
#include "tests/unit/storage/meta/shown_json.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;

constexpr std::int64_t kCreated = 1'356'998'000;

Bytes tsuid(std::string_view hex) { return *from_hex(hex); }
const Bytes kSeries = tsuid("000001000001000001");             // sys.cpu host=web01
const Bytes kOther = tsuid("000001000001000001000002000002");  // and dc=lga

class TsMetaTest : public testing::Test {
 protected:
  void create(const Bytes& series, std::int64_t counter) {
    TsMeta meta;
    meta.tsuid = to_hex(series);
    meta.created_s = kCreated;
    const auto fresh = run_task(world_.ts_metas.create(series, meta, counter));
    ASSERT_TRUE(fresh && *fresh);
  }
  Result<TsMeta> put(const Bytes& series, std::string_view json, bool replace = false) {
    return run_task(world_.ts_metas.put(series, *parse_ts_meta(json), replace));
  }
  std::vector<std::string> find(std::vector<UidPair> tags, std::size_t limit = 10) {
    const auto metas = run_task(world_.ts_metas.find(1, std::move(tags), limit));
    if (!metas) return {metas.error().message};
    std::vector<std::string> list;
    for (const TsMeta& meta : *metas) list.push_back(meta.tsuid);
    return list;
  }

  NameWorld world_;
};

TEST_F(TsMetaTest, CellsAreOpenTsdbsByteForByte) {
  create(kSeries, 1);
  EXPECT_EQ(NameWorld::cell(*world_.series, 0, "000001000001000001", "ts_meta"),
            R"({"tsuid":"000001000001000001","displayName":"","description":"","notes":"",)"
            R"("created":1356998000,"custom":null,"units":"","dataType":"","retention":0,)"
            R"("max":"NaN","min":"NaN"})");
  EXPECT_EQ(NameWorld::cell(*world_.series, 0, "000001000001000001", "ts_ctr"),
            Bytes("\0\0\0\0\0\0\0\1", 8));
}

TEST_F(TsMetaTest, ShownWithItsNamesAndItsCounter) {
  create(kSeries, 0);
  ASSERT_EQ(*run_task(world_.ts_metas.count(kSeries, 7)), 7);
  const auto meta = run_task(world_.ts_metas.get(kSeries));
  ASSERT_TRUE(meta && *meta);
  EXPECT_EQ(
      shown(**meta),
      R"({"tsuid":"000001000001000001","metric":{"uid":"000001","type":"METRIC",)"
      R"("name":"sys.cpu","description":"","notes":"","created":0,"custom":null,)"
      R"("displayName":""},"tags":[{"uid":"000001","type":"TAGK","name":"host","description":"",)"
      R"("notes":"","created":0,"custom":null,"displayName":""},{"uid":"000001","type":"TAGV",)"
      R"("name":"web01","description":"","notes":"","created":0,"custom":null,)"
      R"("displayName":""}],"description":"","notes":"","created":1356998000,"units":"",)"
      R"("retention":0,"max":"NaN","min":"NaN","displayName":"","dataType":"",)"
      R"("lastReceived":1356998400,"totalDatapoints":7})");
}

TEST_F(TsMetaTest, ACounterAloneIsNoObject) {
  ASSERT_TRUE(run_task(world_.ts_metas.mark({kSeries, kOther})));
  EXPECT_EQ(NameWorld::cell(*world_.series, 0, to_hex(kOther), "ts_ctr"),
            Bytes("\0\0\0\0\0\0\0\1", 8));
  EXPECT_TRUE(*run_task(world_.ts_metas.has_counter(kSeries)));
  EXPECT_FALSE(*run_task(world_.ts_metas.exists(kSeries)));
  EXPECT_FALSE(run_task(world_.ts_metas.get(kSeries))->has_value());
  EXPECT_FALSE(run_task(world_.ts_metas.get({}))->has_value());
  EXPECT_EQ(put(kSeries, R"({"notes":"n"})").error().message, "Requested TSMeta did not exist");
}

TEST_F(TsMetaTest, EditsMergeReplacementsReset) {
  create(kSeries, 3);
  const auto first = put(kSeries, R"({"displayName":"D","description":"desc","units":"ms",
      "dataType":"gauge","retention":30,"max":100.5,"min":0,"custom":{"x":"y"}})");
  ASSERT_TRUE(first);
  EXPECT_EQ(NameWorld::cell(*world_.series, 0, "000001000001000001", "ts_meta"),
            R"({"tsuid":"000001000001000001","displayName":"D","description":"desc","notes":"",)"
            R"("created":1356998000,"custom":{"x":"y"},"units":"ms","dataType":"gauge",)"
            R"("retention":30,"max":100.5,"min":0.0})");
  const auto second = put(kSeries, R"({"notes":"n","max":"NaN"})");
  EXPECT_EQ(second->description, "desc");
  EXPECT_EQ(second->min, 0);
  EXPECT_TRUE(std::isnan(second->max));
  EXPECT_EQ(second->retention, 30);
  const auto reset = put(kSeries, R"({"displayName":"E"})", true);
  EXPECT_EQ(reset->description, "");
  EXPECT_TRUE(std::isnan(reset->min));
  EXPECT_EQ(reset->custom, std::nullopt);
  EXPECT_EQ(reset->created_s, kCreated);
  EXPECT_EQ(reset->points, 3);
}

TEST_F(TsMetaTest, RemovingKeepsTheCounter) {
  create(kSeries, 3);
  ASSERT_TRUE(run_task(world_.ts_metas.remove(kSeries)));
  EXPECT_FALSE(run_task(world_.ts_metas.get(kSeries))->has_value());
  EXPECT_TRUE(*run_task(world_.ts_metas.has_counter(kSeries)));
}

TEST_F(TsMetaTest, CreatingTwiceKeepsTheFirst) {
  create(kSeries, 3);
  TsMeta other;
  other.tsuid = "000001000001000001";
  other.notes = "other";
  EXPECT_FALSE(*run_task(world_.ts_metas.create(kSeries, other, 9)));
  const auto meta = run_task(world_.ts_metas.get(kSeries));
  EXPECT_EQ((*meta)->notes, "");
  EXPECT_EQ((*meta)->points, 3);
}

TEST_F(TsMetaTest, FoundByMetricAndTags) {
  create(kSeries, 1);
  create(kOther, 1);
  create(tsuid("000002000001000001"), 1);
  ASSERT_TRUE(run_task(world_.ts_metas.mark({tsuid("000001000001000002")})));
  EXPECT_THAT(find({}), ElementsAre(to_hex(kSeries), to_hex(kOther)));
  EXPECT_THAT(find({{1, 1}}), ElementsAre(to_hex(kSeries), to_hex(kOther)));
  EXPECT_THAT(find({{2, 2}}), ElementsAre(to_hex(kOther)));
  EXPECT_THAT(find({{2, 2}, {1, 1}}), ElementsAre(to_hex(kOther)));
  EXPECT_THAT(find({{1, 2}}), ElementsAre());
  EXPECT_THAT(find({}, 1), ElementsAre(testing::HasSubstr("raise web.lookup_series_max")));
}

TEST_F(TsMetaTest, NamesMustExist) {
  const Bytes stranger = tsuid("000001000001FFFFFE");
  EXPECT_FALSE(run_task(world_.ts_metas.get(stranger))->has_value());
  EXPECT_EQ(put(stranger, R"({"notes":"n"})").error().code, Errc::kNotFound);
  EXPECT_EQ(put(tsuid("0000"), R"({"notes":"n"})").error().code, Errc::kInvalidArgument);
}

TEST_F(TsMetaTest, EditsAtTheSameTimeAllTakeEffect) {
  create(kSeries, 1);
  std::vector<Task<TsMeta>> tasks;
  for (int i = 1; i <= 8; ++i) {
    for (const char* field : {"displayName", "description", "notes", "units", "dataType"}) {
      const std::string json = "{\"" + std::string(field) + "\":\"" + std::to_string(i) + "\"}";
      tasks.push_back(world_.ts_metas.put(kSeries, *parse_ts_meta(json), false));
    }
  }
  for (const auto& outcome : test::run_tasks(std::move(tasks), 4)) {
    ASSERT_TRUE(outcome) << outcome.error().message;
  }
  const auto meta = run_task(world_.ts_metas.get(kSeries));
  for (const auto* text : {&(*meta)->display_name, &(*meta)->description, &(*meta)->notes,
                           &(*meta)->units, &(*meta)->data_type}) {
    EXPECT_NE(*text, "");
  }
}

TEST(TsMeta, WhatDiffersFromNothingIsAChange) {
  const auto changes = [](std::string_view json) {
    return parse_ts_meta(json)->changes_anything();
  };
  EXPECT_FALSE(changes(R"({"tsuid":"01"})"));
  EXPECT_FALSE(changes(R"({"notes":"","retention":0,"custom":null,"lastReceived":5})"));
  EXPECT_TRUE(changes(R"({"max":"NaN"})"));
  EXPECT_TRUE(changes(R"({"min":0})"));
  EXPECT_TRUE(changes(R"({"retention":1})"));
  EXPECT_TRUE(changes(R"({"created":1})"));
}

TEST(TsMeta, NumbersAreThoseNearestToWhatIsWritten) {
  const TsMetaEdit edit =
      parse_ts_meta(R"({"max":9999000000000000000000009223372036442990053.5,"min":-1.5e-310})")
          .value();
  EXPECT_EQ(edit.meta.max, 9999000000000000000000009223372036442990053.5);
  EXPECT_EQ(edit.meta.min, -1.5e-310);
  const std::string stored = stored_json(edit.meta);
  EXPECT_EQ(stored_json(parse_ts_meta(stored).value().meta), stored);
}

TEST(TsMeta, WhatIsNoJsonIsRefused) {
  for (const char* const text : {"", "{", R"({"max":1} x)", R"({"max":})", R"({"max":1e})"}) {
    EXPECT_FALSE(parse_ts_meta(text)) << text;
  }
  EXPECT_EQ(parse_ts_meta(R"({"max":1e999,"min":1,"min":2})")->meta.min, 2);
}

}  // namespace
}  // namespace halite::storage
