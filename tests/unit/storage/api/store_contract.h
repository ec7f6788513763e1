// The promises of storage/api/wide_column.h as tests over every store: store_contract_*_test.cc.
//
// To add a store: write a StoreHarness for it and add a line to store_kinds(). That is defined once
// a program: for stores of this machine in local_store_kinds.cc, for HBase in hbase_store_kinds.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/clock.h"
#include "storage/api/wide_column.h"
#include "tests/support/run_task.h"

namespace halite::storage {

extern const TimestampMs kTestNow;  // where each test's clock begins

// One store under test and where it keeps its data.
class StoreHarness {
 public:
  virtual ~StoreHarness() = default;
  virtual WideColumnStore& store() = 0;
  // Closes the store and opens it on the same data. Only for stores that keep any.
  virtual void reopen() = 0;
};

struct StoreKind {
  std::string name;
  bool lasts = false;    // keeps its data when it is closed, and knows then how far its times went
  bool cluster = false;  // differs as hbase_store.h says: no explicit times behind a delete's,
                         // times of counters, no estimates
  std::function<std::unique_ptr<StoreHarness>(const Clock&)> make;
};

inline void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }

std::vector<StoreKind> store_kinds();
std::vector<StoreKind> lasting_store_kinds();

// Two families: 0 = "d" without a TTL, 1 = "t" that keeps its cells for one second.
TableSpec two_families(std::string name = "table");
inline constexpr std::int64_t kShortTtlMs = 1000;

class StoreContract : public testing::TestWithParam<StoreKind> {
 protected:
  void SetUp() override;
  void TearDown() override;

  void open(TableSpec spec);  // into table_
  void reopen();              // store and table_

  Result<void> put(const Bytes& row, const Bytes& qualifier, const Bytes& value,
                   TimestampMs time = 0, Family family = 0);
  Result<void> remove(const Bytes& row, const Bytes& qualifier, Family family = 0);
  std::optional<Bytes> get(const Bytes& row, const Bytes& qualifier, Family family = 0);
  std::vector<Cell> cells(const Bytes& row, Family family = 0);
  // Every row of the scan, its pieces joined; fails the test on an error, a batch over `limit`, or
  // when next_packed() gives anything else.
  std::vector<Row> scan(const ScanSpec& spec, ScanLimit limit = {});
  std::vector<Bytes> scan_keys(const ScanSpec& spec, ScanLimit limit = {});

  void expect_packed(const ScanSpec& spec, ScanLimit limit, const std::vector<Row>& expected);

  FakeClock clock_{kTestNow};
  std::unique_ptr<StoreHarness> harness_;
  std::shared_ptr<Table> table_;
  TableSpec spec_ = two_families();
};

// "row:qualifier=value qualifier=value", for readable expectations.
std::string text_of(const Row& row);
std::vector<std::string> texts_of(const std::vector<Row>& rows);

// Nth of rows that are printed with leading zeros, so that they sort by number.
Bytes numbered(std::string_view prefix, std::size_t number);

inline std::string kind_name(const testing::TestParamInfo<StoreKind>& kind) {
  return kind.param.name;
}

}  // namespace halite::storage
