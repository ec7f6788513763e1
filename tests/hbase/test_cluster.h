// The HBase that ./dev test-hbase has started for the tests.
#pragma once

#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "common/check.h"
#include "storage/backends/hbase/table/hbase_store.h"

namespace halite::test {

// ZooKeeper, from HALITE_TEST_HBASE.
inline storage::hbase::Endpoint cluster_quorum() {
  const char* const named = std::getenv("HALITE_TEST_HBASE");  // NOLINT(concurrency-mt-unsafe)
  HALITE_CHECK(named != nullptr, "HALITE_TEST_HBASE is not set: run this by ./dev test-hbase");
  const std::string text = named;
  const std::size_t colon = text.rfind(':');
  storage::hbase::Endpoint quorum{text.substr(0, colon), 0};
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), quorum.port);
  return quorum;
}

// A store whose tables nobody else has: each call gives another prefix.
inline storage::HBaseStoreOptions store_on_cluster() {
  static std::atomic<int> last = 0;
  storage::HBaseStoreOptions options;
  options.client.quorum = {cluster_quorum()};
  options.table_prefix = fmt::format("t{}-{}-", ::getpid(), ++last);
  options.tables.compression = "NONE";
  options.tables.encoding = "NONE";
  return options;
}

}  // namespace halite::test
