#include "app/server/ping_store.h"

#include <cstdint>

#include <prometheus/registry.h>

#include "app/server/wait_for.h"
#include "storage/backends/hbase/client/client.h"
#include "storage/backends/hbase/table/hbase_store.h"

namespace halite::app {
namespace {

// A waiting server checks for signals between two attempts.
constexpr std::uint32_t kAttemptMs = 3'000;

}  // namespace

Result<void> ping_store(const Options& options, const Clock& clock,
                        const boost::asio::any_io_executor& executor) {
  if (options.store != StoreKind::kHBase) return {};
  storage::HBaseStoreOptions attempt = options.hbase.store;
  attempt.threads = 1;
  attempt.tables.create = false;
  attempt.client.operation_ms_max = kAttemptMs;
  attempt.client.procedure_ms_max = kAttemptMs;
  prometheus::Registry registry;  // the server's registry counts only its own work
  TRY_VOID(storage::hbase::Client::check(attempt.client));
  storage::HBaseStore store(attempt, clock, registry);
  const auto asked = wait_for(
      executor, store.client().describe_table(attempt.whole_name(options.cells.data_table)));
  Result<void> closed = wait_for(executor, store.close());
  if (!asked) return std::unexpected(asked.error());
  return closed;
}

}  // namespace halite::app
