#include "storage/cells/layouts/table_parameters.h"

#include <gtest/gtest.h>

#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/cyclic_options.h"
#include "storage/cells/layouts/opentsdb_layout.h"

namespace halite::storage {
namespace {

TEST(TableParameters, TheBytesOfBothLayouts) {
  CyclicOptions cyclic;
  cyclic.ttl_ms = 30 * kDayMs;
  const TableParameters ring = CyclicLayout::make(cyclic).value()->parameters();
  EXPECT_EQ(ring.to_bytes(), R"({"format":1,"layout":"cyclic","uid_widths":[3,3,3],"salt_width":1,)"
                             R"("salt_buckets":16,"span_ms":86400000,"slots":1024})");
  EXPECT_EQ(TableParameters::from_bytes(ring.to_bytes()).value(), ring);

  OpentsdbOptions opentsdb;
  opentsdb.widths = {4, 2, 5};
  const TableParameters plain = OpentsdbLayout::make(opentsdb).value()->parameters();
  EXPECT_EQ(plain.to_bytes(),
            R"({"format":1,"layout":"opentsdb","uid_widths":[4,2,5],"salt_width":0,)"
            R"("salt_buckets":1,"span_ms":0,"slots":0})");
  EXPECT_EQ(TableParameters::from_bytes(plain.to_bytes()).value(), plain);
}

TEST(TableParameters, DamagedOrNewerBytes) {
  EXPECT_EQ(TableParameters::from_bytes("").error().code, Errc::kCorruption);
  EXPECT_EQ(TableParameters::from_bytes("[1]").error().code, Errc::kCorruption);
  EXPECT_EQ(TableParameters::from_bytes("{}").error().message, "table parameters: no format: {}");
  EXPECT_EQ(TableParameters::from_bytes(R"({"format":2})").error().code, Errc::kUnsupported);
  EXPECT_EQ(TableParameters::from_bytes(R"({"format":1,"layout":"cyclic"})").error().code,
            Errc::kCorruption);
  EXPECT_EQ(TableParameters::from_bytes(
                R"({"format":1,"layout":"cyclic","uid_widths":[3,3,-3],"salt_width":1,)"
                R"("salt_buckets":16,"span_ms":86400000,"slots":1024})")
                .error()
                .code,
            Errc::kCorruption);
}

TEST(TableParameters, ADifferenceIsNamed) {
  CyclicOptions options;
  const TableParameters stored = CyclicLayout::make(options).value()->parameters();
  EXPECT_TRUE(check_same_table(stored, stored));
  options.salt_buckets = 8;
  const auto error = CyclicLayout::options_for(options, stored).error();
  EXPECT_EQ(error.code, Errc::kInvalidArgument);
  EXPECT_EQ(error.message,
            "the table was created with storage.salt_buckets = 16 and cannot be opened with 8");
  options.salt_buckets = 16;
  options.span_ms = kDayMs / 2;
  EXPECT_EQ(CyclicLayout::options_for(options, stored).error().message,
            "the table was created with storage.slot_ms = 86400000 and cannot be opened with "
            "43200000");
  TableParameters wider = stored;
  wider.widths.tag_key = 4;
  EXPECT_EQ(check_same_table(stored, wider).error().message,
            "the table was created with storage.uid_width_tag_key = 3 and cannot be opened with 4");
  const TableParameters other = OpentsdbLayout::make({}).value()->parameters();
  EXPECT_EQ(
      check_same_table(stored, other).error().message,
      "the table was created with storage.layout = cyclic and cannot be opened with opentsdb");
}

TEST(TableParameters, SlotsThatHaveNoEffectAreTold) {
  CyclicOptions options;
  const TableParameters stored = CyclicLayout::make(options).value()->parameters();
  EXPECT_EQ(idle_slots_note(CyclicLayout::options_for(options, stored).value()), std::nullopt);
  options.slots = 2048;
  EXPECT_EQ(idle_slots_note(options),
            "storage.slots = 2048 has no effect: data is kept forever (storage.ttl_ms = 0), so "
            "slots are never reused");
  options.ttl_ms = 7 * kDayMs;
  EXPECT_EQ(idle_slots_note(options), std::nullopt) << "a new table is a ring of so many";
  EXPECT_EQ(
      idle_slots_note(CyclicLayout::options_for(options, stored).value()),
      "storage.slots = 2048 has no effect: the data directory was created to keep data forever "
      "(storage.ttl_ms = 0), so slots are never reused");
  const TableParameters ring = CyclicLayout::make(options).value()->parameters();
  options.slots = 1024;
  EXPECT_EQ(CyclicLayout::options_for(options, ring).error().message,
            "the table was created with storage.slots = 2048 and cannot be opened with 1024");
}

TEST(TableParameters, ATtlMayComeToATableMadeWithoutOne) {
  CyclicOptions options;
  const TableParameters stored = CyclicLayout::make(options).value()->parameters();
  EXPECT_EQ(stored.slots, 0u);
  options.ttl_ms = 7 * kDayMs;
  const CyclicOptions adopted = CyclicLayout::options_for(options, stored).value();
  EXPECT_TRUE(adopted.never_reuse);
  const auto layout = CyclicLayout::make(adopted).value();
  EXPECT_EQ(layout->parameters(), stored);
  // Day 15706 keeps its own slot, yet it expires.
  EXPECT_EQ(
      to_hex(layout->row_key(from_hex("000001000001000001").value(), 15706 * kDayMs)).substr(2, 8),
      "00003D5A");
  EXPECT_FALSE(layout->admit(15706 * kDayMs, 15720 * kDayMs));
}

TEST(TableParameters, ARingKeepsItsTtlButMayChangeIt) {
  CyclicOptions options;
  options.ttl_ms = 7 * kDayMs;
  const TableParameters stored = CyclicLayout::make(options).value()->parameters();
  options.ttl_ms = 90 * kDayMs;
  EXPECT_EQ(CyclicLayout::options_for(options, stored).value().ttl_ms, 90 * kDayMs);
  options.ttl_ms = 0;
  EXPECT_EQ(CyclicLayout::options_for(options, stored).error().message,
            "the table was created with a ring of 1024 slots, so storage.ttl_ms cannot be 0 "
            "(forever)");
  options.ttl_ms = 7 * kDayMs;
  options.slots = 512;
  EXPECT_EQ(CyclicLayout::options_for(options, stored).error().message,
            "the table was created with storage.slots = 1024 and cannot be opened with 512");
}

}  // namespace
}  // namespace halite::storage
