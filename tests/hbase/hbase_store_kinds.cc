// HBase, where HALITE_TEST_HBASE says it is.
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include <fmt/format.h>
#include <prometheus/registry.h>

#include "common/check.h"
#include "storage/backends/hbase/table/hbase_store.h"
#include "tests/hbase/test_cluster.h"
#include "tests/unit/storage/api/store_contract.h"

namespace halite::storage {
namespace {

// With tables of its own, as all harnesses share one cluster.
class HBaseHarness final : public StoreHarness {
 public:
  explicit HBaseHarness(const Clock& clock) : store_(options(), clock, registry_) {}
  WideColumnStore& store() override { return store_; }
  void reopen() override { HALITE_CHECK(false, "HBase does not tell how far its times went"); }

 private:
  static HBaseStoreOptions options() {
    HBaseStoreOptions options = test::store_on_cluster();
    options.tables.expire = false;  // the servers' clock is not the test's
    return options;
  }

  prometheus::Registry registry_;
  HBaseStore store_;
};

std::unique_ptr<StoreHarness> make_harness(const Clock& clock) {
  return std::make_unique<HBaseHarness>(clock);
}

}  // namespace

// Ahead of the servers' clock, so that what they stamp themselves never hides what we do.
const TimestampMs kTestNow = SystemClock().now_ms() + 3'600'000;

std::vector<StoreKind> store_kinds() {
  return {{.name = "hbase", .lasts = false, .cluster = true, .make = make_harness}};
}

}  // namespace halite::storage
