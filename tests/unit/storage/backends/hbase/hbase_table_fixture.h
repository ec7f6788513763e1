// A table of two families in a fake HBase, and what it is written and read with.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/threads/io_threads.h"
#include "storage/backends/hbase/table/hbase_table.h"
#include "tests/support/fake_region_server.h"
#include "tests/support/run_task.h"

namespace halite::storage {

class HBaseTableTest : public testing::Test {
 public:
  ~HBaseTableTest() override {
    table_.reset();
    if (client_) EXPECT_TRUE(test::run_task(client_->close()));
    threads_.join();
  }

 protected:
  static constexpr TimestampMs kNow = 1'700'000'900'000;  // ahead of the fake servers' clock

  // Table t of family f, which keeps its cells for ever, and g.
  void open(const std::vector<Bytes>& split_keys = {}, std::int64_t ttl_ms_of_g = 0) {
    hbase_.add_table("t", split_keys);
    hbase::ClientOptions options;
    options.registry = {hbase_.endpoint(0)};
    options.seed = 1;
    options.pause_ms_min = 1;
    options.pause_ms_max = 2;
    client_.emplace(options, threads_.executors(), registry_);
    table_ = std::make_shared<HBaseTable>(
        HBaseTable::Dependencies{*client_, clock_, "t", 10},
        std::vector<FamilySpec>{{.name = "f"}, {.name = "g", .ttl_ms = ttl_ms_of_g}});
  }

  test::FakeHBase hbase_{2};
  IoThreads threads_{2, "hbase"};
  prometheus::Registry registry_;
  FakeClock now_{kNow};
  HybridClock clock_{now_};
  std::optional<hbase::Client> client_;
  std::shared_ptr<HBaseTable> table_;
};

}  // namespace halite::storage
