// What is CellPointStore's own, beyond the contract of every point store.
#include "storage/cells/cell_point_store.h"

#include <algorithm>
#include <iterator>
#include <map>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/gather.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "tests/unit/storage/cells/cell_point_store_fixture.h"

namespace halite::storage {
namespace {

TEST_F(CellPointStoreTest, OtherParametersAreRefused) {
  open();
  ASSERT_TRUE(run_task(points_->close()));
  OpentsdbOptions salted = unsalted();
  salted.salt_width = 1;
  const auto opened = try_open(salted, {});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::kInvalidArgument);
  EXPECT_EQ(opened.error().message,
            "the table was created with storage.salt_width = 0 and cannot be opened with 1");
  EXPECT_TRUE(try_open(unsalted(), {}));
}

// What came with the points of a question that wants notes.
std::vector<Bytes> notes_with_points(CellPointStore& points, TimeRange range) {
  SeriesQuery query;
  query.metric = "m";
  query.notes = true;
  const auto selection = run_task(points.select(query, {})).value();
  const auto scan = points.scan(selection, range, 0);
  std::vector<Bytes> notes;
  for (;;) {
    const auto blocks = run_task(scan->next()).value();
    if (blocks.empty()) return notes;
    for (const Block& block : blocks) std::ranges::copy(block.notes, std::back_inserter(notes));
  }
}

TEST_F(CellPointStoreTest, NotesAmongThePointsComeWithThem) {
  CellPointStoreOptions options;
  options.scan.shared_tables = true;  // others write there, too
  open(options);
  const SeriesId id = intern("a");
  PointBatch batch;
  for (int i = 0; i < 1500; ++i) batch.add(id, kHourBegin + 1000 * i, integer_bits(i), 0);
  ASSERT_TRUE(run_task(points_->append(std::move(batch))));
  ASSERT_TRUE(run_task(points_->flush()));
  const auto layout = OpentsdbLayout::make(unsalted()).value();
  const Bytes known = points_->series(id).tsuid;
  Bytes nobodys = known;
  nobodys.back() = '\x77';
  const auto note = [&](const Bytes& tsuid, TimestampMs time, const char* json) {
    std::vector<RowWrite> writes(1);
    writes[0].row = layout->row_key(tsuid, time);
    writes[0].puts.push_back({{0, Bytes("\x01\x00\x05", 3)}, json, 0});
    ASSERT_TRUE(run_task(data_table()->write(std::move(writes))));
  };
  note(known, kHourBegin, "beside points");
  note(known, kHourBegin - 3'600'000, "alone in its hour");
  note(nobodys, kHourBegin, "of a series that nobody has named");
  EXPECT_THAT(notes_with_points(*points_, {kHourBegin - 3'600'000, kHourBegin + 3'600'000}),
              testing::ElementsAre("alone in its hour", "beside points"));
  EXPECT_EQ(read({kHourBegin - 3'600'000, kHourBegin + 3'600'000}).size(), 1500u);
}

TEST_F(CellPointStoreTest, AnEarlierLapOfTheRingNeverAnswers) {
  FakeClock clock(kNow);
  CyclicOptions options;
  options.salt_buckets = 1;
  options.slots = 10;
  options.ttl_ms = 5 * kDayMs;
  const std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make(options).value();
  CellPointStoreOptions tables;
  tables.data_table = "ring";
  CellPointStore::Dependencies dependencies{
      unruly_store_, layout, layout->parameters(), clock, background_.get_executor(), metrics_};
  const auto ring = run_task(CellPointStore::open(dependencies, tables)).value();
  const SeriesId id = intern(*ring, "a");
  using Found = std::map<TimestampMs, double>;
  const TimeRange always{0, std::numeric_limits<TimestampMs>::max()};
  for (int day = 0; day < 25; ++day) {
    const TimestampMs now = clock.now_ms();
    ASSERT_TRUE(run_task(ring->append(one(id, now, day))));
    ASSERT_TRUE(run_task(ring->flush()));
    Found expected;
    for (int back = 0; back <= 5 && back <= day; ++back) expected[now - back * kDayMs] = day - back;
    EXPECT_EQ(read(*ring, always), expected);
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(ring->select(query, {})).value();
    const auto last = run_task(ring->last(selection, always)).value();
    ASSERT_EQ(last.size(), 1u);
    EXPECT_EQ(last.front().time, now);
    clock.advance(kDayMs);
  }
  const Accepted late = run_task(ring->append(one(id, kNow, 1))).value();
  ASSERT_EQ(late.refused.size(), 1u);
  EXPECT_THAT(late.refused.front().error.message, testing::HasSubstr("storage.ttl"));
  ASSERT_TRUE(run_task(ring->close()));
}

TEST_F(CellPointStoreTest, ALongRangeDoesNotTryEveryEmptySlot) {
  CyclicOptions options;
  options.salt_buckets = 1;
  const std::shared_ptr<const CyclicLayout> layout = CyclicLayout::make(options).value();
  const auto slots = run_task(CellPointStore::open({unruly_store_, layout, layout->parameters(),
                                                    clock_, background_.get_executor(), metrics_},
                                                   CellPointStoreOptions()))
                         .value();
  const SeriesId id = intern(*slots, "a");
  for (const int year : {1980, 2000, 2020}) {
    ASSERT_TRUE(run_task(slots->append(one(id, (year - 1970) * 365 * kDayMs, year))));
  }
  ASSERT_TRUE(run_task(slots->flush()));
  unruly_.scans = 0;
  EXPECT_EQ(read(*slots, {0, kNow}).size(), 3u);
  EXPECT_LT(unruly_.scans, 30);  // of some 19 675 slots
  ASSERT_TRUE(run_task(slots->close()));
}

// Two of ten series over three hours: six rows by key, or a walk over all thirty.
TEST_F(CellPointStoreTest, RowsByKeyAtTheirMaximumAndOneLess) {
  const auto walks = [this](std::size_t rows_max, std::size_t series_max) {
    CellPointStoreOptions options;
    options.scan.exact_rows_max = rows_max;
    options.scan.exact_series_max = series_max;
    const auto points = try_open(unsalted(), options).value();
    for (int i = 0; i < 10; ++i) {
      const SeriesId id = intern(*points, std::to_string(i));
      for (int hour = 0; hour < 3; ++hour) {
        EXPECT_TRUE(
            run_task(points->append(one(id, kHourBegin + hour * 3'600'000 - 10'800'000, i))));
      }
    }
    EXPECT_TRUE(run_task(points->flush()));
    SeriesQuery query;
    query.metric = "m";
    query.filters = {{FilterType::kLiteralOr, "host", "3|4"}};
    unruly_.walks = 0;
    const auto selection = run_task(points->select(query, {})).value();
    const auto scan = points->scan(selection, {kHourBegin - 10'800'000, kHourBegin - 1}, 0);
    std::size_t found = 0;
    for (;;) {
      const auto blocks = run_task(scan->next()).value();
      if (blocks.empty()) break;
      for (const Block& block : blocks) found += block.size();
    }
    EXPECT_EQ(found, 6u);
    EXPECT_TRUE(run_task(points->close()));
    return unruly_.walks.load();
  };
  EXPECT_EQ(walks(6, 2), 0);
  EXPECT_EQ(walks(5, 2), 1);
  EXPECT_EQ(walks(6, 1), 1);
}

// Ten series over three hours, and an eleventh that only another process knows.
TEST_F(CellPointStoreTest, AWalkOverSharedTablesIsCutIntoParts) {
  const auto hours = [](int count) {
    return TimeRange{kHourBegin - count * std::int64_t{3'600'000}, kHourBegin - 1};
  };
  const auto scans = [this](std::size_t splits_max, std::size_t split_series_min, TimeRange range) {
    CellPointStoreOptions options;
    options.scan.shared_tables = true;
    options.scan.split = {.splits_max = splits_max, .split_series_min = split_series_min};
    const auto points = try_open(unsalted(), options).value();
    const auto other = try_open(unsalted(), options).value();
    for (int i = 0; i < 11; ++i) {
      CellPointStore& writer = i < 10 ? *points : *other;
      const SeriesId id = intern(writer, std::to_string(i));
      for (int hour = 0; hour < 3; ++hour) {
        const TimestampMs time = kHourBegin - 10'800'000 + hour * 3'600'000;
        EXPECT_TRUE(run_task(writer.append(one(id, time, i))));
      }
    }
    EXPECT_TRUE(run_task(other->close()));
    EXPECT_TRUE(run_task(points->flush()));
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(points->select(query, {})).value();
    unruly_.scans = 0;
    const auto scan = points->scan(selection, range, 0);
    std::map<SeriesId, std::vector<TimestampMs>> found;
    for (;;) {
      const auto blocks = run_task(scan->next()).value();
      if (blocks.empty()) break;
      for (const Block& block : blocks) {
        std::ranges::copy(block.times, std::back_inserter(found[block.series]));
      }
    }
    EXPECT_EQ(found.size(), 11U);
    for (const auto& [series, times] : found) {
      EXPECT_EQ(times.size(), 3U);
      EXPECT_TRUE(std::ranges::is_sorted(times));
    }
    EXPECT_TRUE(run_task(points->close()));
    return unruly_.scans.load();
  };
  EXPECT_EQ(scans(4, 1, hours(3)), 4 * 3);    // each hour of a part alone
  EXPECT_EQ(scans(4, 1, hours(32)), 4 * 32);  // nor is what comes next looked for among others'
  EXPECT_EQ(scans(4, 1, hours(33)), 4);       // too many hours for that
  EXPECT_EQ(scans(4, 5, hours(3)), 2 * 3);
  EXPECT_EQ(scans(4, 6, hours(3)), 1);
  EXPECT_EQ(scans(1, 1, hours(3)), 1);
  EXPECT_EQ(scans(4, 1, {0, kHourBegin}), 1);  // a part would be of too many hours
}

TEST_F(CellPointStoreTest, SeriesHaveAMaximum) {
  CellPointStoreOptions options;
  options.series_max = 3;
  open(options);
  intern("a");
  // One too many: those before it are taken.
  const auto ids = run_task(points_->intern({host("b"), host("c"), host("b"), host("d"), host("a")},
                                            CreateNames()))
                       .value();
  EXPECT_TRUE(ids[0] && ids[1] && ids[2] && ids[4]);
  ASSERT_FALSE(ids[3]);
  EXPECT_EQ(ids[3].error().code, Errc::kTooLarge);
  const auto more = run_task(points_->intern({host("a"), host("e")}, CreateNames())).value();
  EXPECT_TRUE(more[0]);
  // What is refused leaves no name behind.
  const auto names = run_task(points_->suggest(NameKind::kTagValue, "", 10)).value();
  EXPECT_EQ(std::ranges::count(names, "e"), 0);
  ASSERT_FALSE(more[1]);
  EXPECT_EQ(more[1].error().code, Errc::kTooLarge);
  EXPECT_THAT(more[1].error().message, testing::HasSubstr("storage.series_max"));
}

TEST_F(CellPointStoreTest, CompactedAndAppendColumnsLoseOnlyWhatIsDeleted) {
  open();
  intern("a");
  // Seconds 0, 1, 2 as one compacted column; 3 and 4 as an append column, which stays one; an
  // annotation.
  const Bytes row = from_hex("000001").value() + [] {
    Bytes base;
    append_be<std::uint32_t>(base, static_cast<std::uint32_t>(kHourBegin / 1000));
    return base;
  }() + from_hex("000001000001").value();
  std::vector<RowWrite> writes(1);
  writes[0].row = row;
  const auto put = [&writes](const char* qualifier, const char* value) {
    writes[0].puts.push_back({Column{0, from_hex(qualifier).value()}, from_hex(value).value(), 0});
  };
  put("000000100020", "01020300");
  put("050000",
      "0030040040"
      "05");
  put("010005", "7B7D");
  ASSERT_TRUE(run_task(data_table()->write(writes)));
  using Found = std::map<TimestampMs, double>;
  const auto at = [](int second) { return kHourBegin + 1000 * second; };
  EXPECT_EQ(read(), (Found{{at(0), 1}, {at(1), 2}, {at(2), 3}, {at(3), 4}, {at(4), 5}}));
  SeriesQuery query;
  query.metric = "m";
  const auto selection = run_task(points_->select(query, {})).value();
  EXPECT_EQ(run_task(points_->delete_range(selection, {at(1), at(4)})).value(), 3u);
  EXPECT_EQ(read(), (Found{{at(0), 1}, {at(4), 5}}));
  const auto rows = run_task(data_table()->read({RowRead{row, 0, {}}})).value();
  std::vector<std::string> qualifiers;
  for (const Cell& cell : rows.front().cells) qualifiers.push_back(to_hex(cell.qualifier));
  EXPECT_THAT(qualifiers, testing::ElementsAre("0000", "010005", "050000"));
}

TEST_F(CellPointStoreTest, TwoProcessesShareTheTables) {
  CellPointStoreOptions options;
  options.scan.shared_tables = true;
  open(options);
  const auto other = try_open(unsalted(), options).value();
  std::vector<Task<InternedSeries>> tasks;
  for (int i = 0; i < 50; ++i) {
    CellPointStore& store = i % 2 == 0 ? *points_ : *other;
    tasks.push_back(
        store.intern({host(std::to_string(i % 7)), host(std::to_string(i % 5))}, CreateNames()));
  }
  const auto outcomes =
      boost::asio::co_spawn(background_, gather(std::move(tasks), 16), boost::asio::use_future)
          .get();
  for (const auto& outcome : outcomes) {
    ASSERT_TRUE(outcome);
    for (const auto& id : *outcome) EXPECT_TRUE(id);
  }
  for (int i = 0; i < 7; ++i) {
    const std::string value = std::to_string(i);
    EXPECT_EQ(points_->series(intern(*points_, value)).tsuid,
              other->series(intern(*other, value)).tsuid);
  }
  ASSERT_TRUE(run_task(other->append(one(intern(*other, "late"), kNow, 5))));
  ASSERT_TRUE(run_task(other->flush()));
  EXPECT_EQ(read(), (std::map<TimestampMs, double>{{kNow, 5}}));
  ASSERT_TRUE(run_task(other->close()));
}

// As OpenTSDB walks the Java HashMap of a put line's tags (shared: corpus uid-table).
TEST_F(CellPointStoreTest, TagsGetTheirIdsInOpentsdbsOrder) {
  open();
  const auto intern_tags = [this](std::vector<Tag> tags) {
    return run_task(points_->intern({SeriesName{"m", std::move(tags)}}, CreateNames()))
        .value()
        .front()
        .value();
  };
  intern_tags({{"host", "web01"}});
  intern_tags({{"dc", "lga"}, {"host", "web02"}});
  intern_tags({{"dc", "sjc"}, {"host", "web01"}, {"mount", "/var"}});
  const auto uid = [this](NameKind kind, const char* name) {
    return run_task(points_->uids().find(kind, name)).value().uid;
  };
  EXPECT_EQ(uid(NameKind::kTagKey, "host"), 1u);
  EXPECT_EQ(uid(NameKind::kTagKey, "dc"), 2u);
  EXPECT_EQ(uid(NameKind::kTagKey, "mount"), 3u);
  EXPECT_EQ(uid(NameKind::kTagValue, "web01"), 1u);
  EXPECT_EQ(uid(NameKind::kTagValue, "web02"), 2u);
  EXPECT_EQ(uid(NameKind::kTagValue, "lga"), 3u);
  EXPECT_EQ(uid(NameKind::kTagValue, "/var"), 4u);
  EXPECT_EQ(uid(NameKind::kTagValue, "sjc"), 5u);
}

TEST_F(CellPointStoreTest, ARowLargerThanItsLimitIsRefused) {
  CellPointStoreOptions options;
  options.scan.row_cells_max = 10;
  open(options);
  const SeriesId id = intern("a");
  const auto ask = [this] {
    SeriesQuery query;
    query.metric = "m";
    const auto selection = run_task(points_->select(query, {})).value();
    return run_task(points_->scan(selection, {0, kNow}, 0)->next());
  };
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(run_task(points_->append(one(id, kHourBegin + 1000 * i, i))));
  }
  ASSERT_TRUE(run_task(points_->flush()));
  EXPECT_TRUE(ask());
  ASSERT_TRUE(run_task(points_->append(one(id, kHourBegin + 10'000, 1))));
  ASSERT_TRUE(run_task(points_->flush()));
  const auto refused = ask();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::kTooLarge);
  EXPECT_THAT(refused.error().message, testing::HasSubstr("storage.row_cells_max"));
}

}  // namespace
}  // namespace halite::storage
