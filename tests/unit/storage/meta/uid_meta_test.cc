#include "storage/meta/objects/uid_meta.h"

#include <gtest/gtest.h>

#include "tests/unit/storage/meta/name_world.h"
#include "tests/unit/storage/meta/shown_json.h"

namespace halite::storage {
namespace {

using test::run_task;

const UidMetaStore::Key kMetric{NameKind::kMetric, Bytes("\0\0\1", 3)};
const UidMetaStore::Key kNobody{NameKind::kTagValue, Bytes("\0\0\x99", 3)};

UidMetaEdit edit(std::string_view json) { return UidMetaEdit{*parse_uid_meta(json)}; }

TEST(UidMeta, NamesOfTypes) {
  EXPECT_EQ(*parse_uid_type("metric"), NameKind::kMetric);
  EXPECT_EQ(*parse_uid_type("Metrics"), NameKind::kMetric);
  EXPECT_EQ(*parse_uid_type("TAGK"), NameKind::kTagKey);
  EXPECT_EQ(*parse_uid_type("tagv"), NameKind::kTagValue);
  EXPECT_EQ(parse_uid_type("foo").error().message, "Invalid type requested: foo");
  EXPECT_FALSE(parse_uid_type(""));
}

TEST(UidMeta, WithoutAnObjectTheDefaultsAreShown) {
  NameWorld world;
  EXPECT_EQ(shown(*run_task(world.uid_metas.get(kMetric))),
            R"({"uid":"000001","type":"METRIC","name":"sys.cpu","description":"","notes":"",)"
            R"("created":0,"custom":null,"displayName":""})");
}

TEST(UidMeta, CellsAreOpenTsdbsByteForByte) {
  NameWorld world;
  const auto meta = run_task(world.uid_metas.put(
      kMetric,
      edit(R"({"uid":"000001","type":"metric","displayName":"D","description":"d","notes":"n",
               "custom":{"x":"y"}})"),
      false));
  ASSERT_TRUE(meta);
  EXPECT_EQ(shown(*meta),
            R"({"uid":"000001","type":"METRIC","name":"sys.cpu","description":"d","notes":"n",)"
            R"("created":0,"custom":{"x":"y"},"displayName":"D"})");
  EXPECT_EQ(NameWorld::cell(*world.names, 1, "000001", "metric_meta"),
            R"({"type":"METRIC","displayName":"D","description":"d","notes":"n","created":0,)"
            R"("custom":{"x":"y"}})");
  EXPECT_EQ(*run_task(world.uid_metas.get(kMetric)), *meta);
}

TEST(UidMeta, CustomFieldsAreStoredInTheOrderOfAJavaMap) {
  UidMeta meta;
  meta.kind = NameKind::kTagKey;
  meta.custom = CustomFields{{"b", "1"}, {"owner", "2"}, {"p", std::nullopt}};
  // Buckets of 16: owner and p 0, b 2.
  EXPECT_EQ(stored_json(meta),
            R"({"type":"TAGK","displayName":"","description":"","notes":"","created":0,)"
            R"("custom":{"owner":"2","p":null,"b":"1"}})");
}

TEST(UidMeta, EditsMergeReplacementsReset) {
  NameWorld world;
  ASSERT_TRUE(run_task(world.uid_metas.create(NameKind::kMetric, 1, 1'300'000'000)));
  ASSERT_TRUE(run_task(world.uid_metas.create(NameKind::kMetric, 1, 1'400'000'000)));
  ASSERT_TRUE(
      run_task(world.uid_metas.put(kMetric, edit(R"({"notes":"n","custom":{"x":"y"}})"), false)));
  const auto after = run_task(world.uid_metas.put(kMetric, edit(R"({"displayName":"D"})"), false));
  EXPECT_EQ(after->notes, "n");
  EXPECT_EQ(after->created_s, 1'300'000'000);
  EXPECT_EQ(after->custom, (CustomFields{{"x", "y"}}));
  const auto reset = run_task(world.uid_metas.put(kMetric, edit(R"({"displayName":"E"})"), true));
  EXPECT_EQ(reset->display_name, "E");
  EXPECT_EQ(reset->notes, "");
  EXPECT_EQ(reset->custom, std::nullopt);
  EXPECT_EQ(reset->created_s, 1'300'000'000);
  ASSERT_TRUE(run_task(world.uid_metas.remove(kMetric)));
  EXPECT_EQ(run_task(world.uid_metas.get(kMetric))->display_name, "");
}

TEST(UidMeta, OnlyNamesThatExist) {
  NameWorld world;
  const auto found = run_task(world.uid_metas.get(kNobody));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kNotFound);
  EXPECT_EQ(found.error().message, "No such unique ID for 'tagv': [0, 0, -103]");
  EXPECT_EQ(run_task(world.uid_metas.put(kNobody, edit(R"({"notes":"n"})"), false)).error().code,
            Errc::kNotFound);
  const auto short_id = run_task(world.uid_metas.get({NameKind::kMetric, Bytes("\1")}));
  EXPECT_EQ(short_id.error().message, "Wrong id.length = 1 which is != 3 required for 'metrics'");
}

TEST(UidMeta, WhatDiffersFromNothingIsAChange) {
  EXPECT_FALSE(edit(R"({"uid":"000001","type":"metric"})").changes_anything());
  EXPECT_FALSE(edit(R"({"notes":"","created":0,"custom":null,"name":"x"})").changes_anything());
  EXPECT_TRUE(edit(R"({"notes":"n"})").changes_anything());
  EXPECT_TRUE(edit(R"({"created":5})").changes_anything());
  EXPECT_TRUE(edit(R"({"custom":{}})").changes_anything());
}

}  // namespace
}  // namespace halite::storage
