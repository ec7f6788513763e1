#include "storage/meta/objects/annotation_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/backends/memory/memory_store.h"
#include "tests/support/run_task.h"

namespace halite::storage {
namespace {

using test::run_task;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kHour = 1'356'998'400;

std::vector<std::string> texts(const std::vector<Annotation>& notes) {
  std::vector<std::string> result;
  for (const Annotation& note : notes) result.push_back(note.description.value_or("null"));
  return result;
}

class AnnotationStoreTest : public testing::Test {
 protected:
  AnnotationStoreTest() { open({}); }

  void open(const OpentsdbOptions& options, AnnotationOptions limits = {}) {
    const auto opened = run_task(tables_.open_table(annotation_table_spec("annotations")));
    ASSERT_TRUE(opened);
    table_ = *opened;
    auto layout = OpentsdbLayout::make(options);
    ASSERT_TRUE(layout);
    store_.emplace(table_, std::move(*layout), limits);
  }

  Result<Annotation> put(std::string_view json, bool replace = false) {
    Result<Annotation> note = parse_annotation(json);
    if (!note) return note;
    return run_task(store_->put(AnnotationEdit{std::move(*note)}, replace));
  }
  Result<std::optional<Annotation>> get(std::string_view tsuid, std::int64_t time) {
    return run_task(store_->get(*tsuid_bytes(tsuid), time));
  }
  // Every cell: row, qualifier and value.
  std::vector<std::string> cells() {
    const auto scanner = table_->scan({}, {});
    std::vector<std::string> list;
    for (const Row& row : *run_task(scanner->next({}))) {
      for (const Cell& cell : row.cells) {
        list.push_back(to_hex(row.key) + " " + to_hex(cell.qualifier) + " " + cell.value);
      }
    }
    return list;
  }

  FakeClock clock_{kHour * 1000};
  MemoryStore tables_{clock_};
  std::shared_ptr<Table> table_;
  std::optional<AnnotationStore> store_;
};

TEST_F(AnnotationStoreTest, CellsAreOpenTsdbsByteForByte) {
  ASSERT_TRUE(put(R"({"tsuid":"000001000001000001","startTime":1356998400,"endTime":0,
                      "description":"d0","notes":"n","custom":{"b":"2","a":"1"}})"));
  ASSERT_TRUE(put(R"({"tsuid":"000001000001000001","startTime":1356998400500,"description":"d2",
                      "notes":"n","custom":null})"));
  ASSERT_TRUE(put(R"({"tsuid":"000001000001000001","startTime":1357002000,"description":"d4"})"));
  ASSERT_TRUE(put(R"({"startTime":1356998410,"description":"global"})"));
  EXPECT_THAT(
      cells(),
      ElementsAre(
          R"(00000050E22700 01000A {"startTime":1356998410,"endTime":0,"description":"global",)"
          R"("notes":"","custom":null})",
          R"(00000150E22700000001000001 010000 {"tsuid":"000001000001000001",)"
          R"("startTime":1356998400,"endTime":0,"description":"d0","notes":"n",)"
          R"("custom":{"a":"1","b":"2"}})",
          R"(00000150E22700000001000001 01000001F4 {"tsuid":"000001000001000001",)"
          R"("startTime":1356998400500,"endTime":0,"description":"d2","notes":"n","custom":null})",
          R"(00000150E23510000001000001 010D4A {"tsuid":"000001000001000001",)"
          R"("startTime":1357002000,"endTime":0,"description":"d4","notes":"","custom":null})"));
}

TEST_F(AnnotationStoreTest, LocalOnesAreSaltedGlobalOnesAreNot) {
  open({.widths = {}, .salt_width = 1});
  ASSERT_TRUE(put(R"({"startTime":1356998410,"description":"global"})"));
  ASSERT_TRUE(
      put(R"({"tsuid":"000001000001000001","startTime":1356998420,"description":"local"})"));
  const std::vector<std::string> found = cells();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_TRUE(found[0].starts_with("0000000050E22700 01000A "));
  EXPECT_TRUE(found[1].starts_with("0800000150E22700000001000001 010014 "));
  EXPECT_THAT(texts(*run_task(store_->globals(kHour, kHour + 60))), ElementsAre("global"));
  const auto local =
      run_task(store_->of_metric(Bytes("\0\0\1", 3), {kHour * 1000, (kHour + 60) * 1000}));
  ASSERT_EQ(local->size(), 1u);
  EXPECT_EQ(to_hex(local->front().tsuid), "000001000001000001");
}

TEST_F(AnnotationStoreTest, AnEditKeepsWhatItDoesNotGive) {
  ASSERT_TRUE(put(R"({"startTime":1356998410,"description":"d","notes":"n","endTime":5,
                      "custom":{"k":"v"}})"));
  const auto after = put(R"({"startTime":1356998410,"description":"e"})");
  ASSERT_TRUE(after);
  EXPECT_EQ(after->description, "e");
  EXPECT_EQ(after->notes, "n");
  EXPECT_EQ(after->end_time, 5);
  EXPECT_EQ(after->custom, (CustomFields{{"k", "v"}}));
  EXPECT_EQ(*get("", 1356998410), *after);
}

TEST_F(AnnotationStoreTest, ReplacingResetsWhatItDoesNotGive) {
  ASSERT_TRUE(put(R"({"startTime":1356998410,"description":"d","notes":"n","endTime":5,
                      "custom":{"k":"v"}})"));
  const auto after = put(R"({"startTime":1356998410,"description":"e"})", true);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->notes, "");
  EXPECT_EQ(after->end_time, 0);
  EXPECT_EQ(after->custom, std::nullopt);
}

TEST_F(AnnotationStoreTest, WholeSecondsInMillisecondsAreTheSamePlace) {
  ASSERT_TRUE(put(R"({"startTime":1356998405000,"description":"a"})"));
  EXPECT_EQ((*get("", 1356998405))->start_time, 1356998405000);
  const auto after = put(R"({"startTime":1356998405,"notes":"b"})");
  EXPECT_EQ(after->start_time, 1356998405);
  EXPECT_EQ(after->description, "a");
  EXPECT_EQ(*get("", 1356998405500), std::nullopt);
}

TEST_F(AnnotationStoreTest, GlobalOnesAreSelectedByStartAndEnd) {
  ASSERT_TRUE(put(R"({"startTime":1356998410,"description":"a"})"));
  ASSERT_TRUE(put(R"({"startTime":1356998450,"endTime":1356998455,"description":"b"})"));
  ASSERT_TRUE(put(R"({"startTime":1356998460500,"description":"ms"})"));
  ASSERT_TRUE(put(R"({"startTime":1357002001,"description":"next hour"})"));
  ASSERT_TRUE(put(R"({"tsuid":"000001","startTime":1356998410,"description":"local"})"));
  EXPECT_THAT(texts(*run_task(store_->globals(kHour, kHour + 100))), ElementsAre("ms", "a", "b"));
  EXPECT_THAT(texts(*run_task(store_->globals(kHour + 20, kHour + 100))), ElementsAre("ms", "b"));
  // It ends after the range; that it begins after it would not matter.
  EXPECT_THAT(texts(*run_task(store_->globals(kHour, kHour + 20))), ElementsAre("ms", "a"));
  EXPECT_THAT(texts(*run_task(store_->globals(kHour, kHour + 3600))),
              ElementsAre("ms", "a", "b", "next hour"));
  EXPECT_THAT(*run_task(store_->globals(kHour + 7200, kHour + 9000)), IsEmpty());
  EXPECT_THAT(*run_task(store_->globals(0, 0)), IsEmpty());
}

TEST_F(AnnotationStoreTest, OfAMetricBySeriesInTheOrderOfTime) {
  ASSERT_TRUE(put(R"({"tsuid":"000001000001000002","startTime":1356998402,"description":"b"})"));
  ASSERT_TRUE(put(R"({"tsuid":"000001000001000001","startTime":1357002002,"description":"a2"})"));
  ASSERT_TRUE(put(R"({"tsuid":"000001000001000001","startTime":1356998401,"description":"a1"})"));
  ASSERT_TRUE(put(R"({"tsuid":"000002000001000001","startTime":1356998401,"description":"c"})"));
  const auto notes =
      run_task(store_->of_metric(Bytes("\0\0\1", 3), {kHour * 1000, (kHour + 3601) * 1000}));
  ASSERT_EQ(notes->size(), 2u);
  EXPECT_EQ(to_hex((*notes)[0].tsuid), "000001000001000001");
  EXPECT_THAT(texts((*notes)[0].notes), ElementsAre("a1", "a2"));
  EXPECT_THAT(texts((*notes)[1].notes), ElementsAre("b"));
  EXPECT_THAT(*run_task(store_->of_metric(Bytes("\0\0\3", 3), {0, kHour * 2000})), IsEmpty());
}

TEST_F(AnnotationStoreTest, RangesAreRemovedWithBothEnds) {
  for (const char* time : {"1356998400", "1356998401500", "1356998402", "1356998403"}) {
    ASSERT_TRUE(put(R"({"tsuid":"000001000001000001","startTime":)" + std::string(time) +
                    R"(,"description":"x"})"));
  }
  ASSERT_TRUE(put(R"({"tsuid":"000001000001000002","startTime":1356998401,"description":"x"})"));
  ASSERT_TRUE(put(R"({"startTime":1356998401,"description":"global"})"));
  const Bytes tsuid = *tsuid_bytes("000001000001000001");
  EXPECT_EQ(*run_task(store_->remove_range(tsuid, 1'356'998'401'000, 1'356'998'402'000)), 2u);
  EXPECT_EQ(cells().size(), 4u);
  EXPECT_EQ(*run_task(store_->remove_range({}, 0, 1'456'998'402'000)), 1u);
  EXPECT_EQ(*run_task(store_->remove_range(tsuid, 0, 1'456'998'402'000)), 2u);
  EXPECT_EQ(cells().size(), 1u);
  EXPECT_EQ(*run_task(store_->remove_range(tsuid, 0, 1'456'998'402'000)), 0u);
}

TEST_F(AnnotationStoreTest, ARangeBeforeItsBeginningIsEmpty) {
  ASSERT_TRUE(put(R"({"startTime":1356998401,"description":"global"})"));
  EXPECT_EQ(*run_task(store_->remove_range({}, 1'456'998'402'000, 0)), 0u);
  EXPECT_EQ(*run_task(store_->remove_range(*tsuid_bytes("000001"), 1'456'998'402'000, 0)), 0u);
}

TEST_F(AnnotationStoreTest, WhatIsGoneIsGone) {
  ASSERT_TRUE(put(R"({"startTime":1356998401,"description":"global"})"));
  ASSERT_TRUE(run_task(store_->remove({}, 1356998401)));
  ASSERT_TRUE(run_task(store_->remove({}, 1356998401)));
  EXPECT_EQ(*get("", 1356998401), std::nullopt);
}

TEST_F(AnnotationStoreTest, EditsAtTheSameTimeAllTakeEffect) {
  std::vector<Task<Annotation>> tasks;
  for (int i = 0; i < 8; ++i) {
    for (const char* field : {"description", "notes"}) {
      const auto note = parse_annotation(R"({"startTime":1356998401,")" + std::string(field) +
                                         R"(":")" + std::to_string(i + 1) + R"("})");
      tasks.push_back(store_->put(AnnotationEdit{*note}, false));
    }
    const auto note =
        parse_annotation(R"({"startTime":1356998401,"endTime":)" + std::to_string(i + 1) + "}");
    tasks.push_back(store_->put(AnnotationEdit{*note}, false));
  }
  for (const auto& outcome : test::run_tasks(std::move(tasks), 4)) ASSERT_TRUE(outcome);
  const auto note = get("", 1356998401);
  ASSERT_TRUE(note && *note);
  // Nobody's edit undid another field's.
  EXPECT_NE((*note)->description, "");
  EXPECT_NE((*note)->notes, "");
  EXPECT_NE((*note)->end_time, 0);
}

TEST_F(AnnotationStoreTest, TimesThatNoRowHoldsAreRefused) {
  EXPECT_EQ(put(R"({"startTime":-5,"description":"x"})").error().code, Errc::kInvalidArgument);
  EXPECT_EQ(put(R"({"startTime":9999999999999,"description":"x"})").error().code,
            Errc::kInvalidArgument);
  EXPECT_EQ(put(R"({"tsuid":"0000","startTime":1,"description":"x"})").error().code,
            Errc::kInvalidArgument);
  EXPECT_EQ(*get("0000", 1), std::nullopt);
}

TEST_F(AnnotationStoreTest, AnAnswerHasALimit) {
  open({}, {.answer_max = 2});
  for (int i = 1; i <= 2; ++i) {
    ASSERT_TRUE(put(R"({"startTime":)" + std::to_string(kHour + i) + R"(,"description":"x"})"));
  }
  EXPECT_EQ(run_task(store_->globals(kHour, kHour + 60))->size(), 2u);
  ASSERT_TRUE(put(R"({"startTime":1356998403,"description":"x"})"));
  const auto too_many = run_task(store_->globals(kHour, kHour + 60));
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().code, Errc::kTooLarge);
  EXPECT_NE(too_many.error().message.find("meta.annotations_max"), std::string::npos);
}

TEST_F(AnnotationStoreTest, ADamagedOneIsNamed) {
  std::vector<RowWrite> writes(1);
  writes[0].row = *from_hex("00000050E22700");
  writes[0].puts.push_back(CellWrite{Column{0, *from_hex("01000A")}, "{\"startTime", 0});
  ASSERT_TRUE(run_task(table_->write(std::move(writes))));
  const auto found = run_task(store_->globals(kHour, kHour + 60));
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Errc::kCorruption);
  EXPECT_NE(found.error().message.find("00000050E22700"), std::string::npos);
}

}  // namespace
}  // namespace halite::storage
