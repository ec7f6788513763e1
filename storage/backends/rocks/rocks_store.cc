#include "storage/backends/rocks/rocks_store.h"

#include <utility>

#include "common/check.h"
#include "common/offload.h"
#include "storage/backends/rocks/core.h"
#include "storage/backends/rocks/table.h"

namespace halite::storage {

namespace rocks {

Result<void> Core::close() {
  closing = true;
  committer.stop();
  pool.join();
  scans.close_all();
  return database->close();
}

}  // namespace rocks

RocksStore::RocksStore(std::shared_ptr<rocks::Core> core) : core_(std::move(core)) {}

Result<std::unique_ptr<RocksStore>> RocksStore::open(const RocksOptions& options,
                                                     const Clock& clock,
                                                     prometheus::Registry& registry) {
  TRY(std::unique_ptr<rocks::Database> database, rocks::Database::open(options, clock));
  auto core = std::make_shared<rocks::Core>(options, clock, std::move(database), registry);
  return std::unique_ptr<RocksStore>(new RocksStore(std::move(core)));
}

Task<std::shared_ptr<Table>> RocksStore::open_table(TableSpec spec) {
  CO_TRY_VOID(core_->check_open());
  auto job = [core = core_, spec = std::move(spec)] { return core->database->open_table(spec); };
  CO_TRY(std::vector<rocks::FamilyHandle> families, co_await offload(core_->pool, std::move(job)));
  co_return std::make_shared<rocks::RocksTable>(core_, std::move(families));
}

std::vector<rocks::LiveFile> RocksStore::live_files() const {
  return rocks::live_files(core_->database->db());
}

Result<void> RocksStore::snapshot(const std::string& dir) {
  TRY_VOID(core_->check_open());
  return core_->database->snapshot(dir);
}

Task<void> RocksStore::compact() {
  CO_TRY_VOID(core_->check_open());
  auto job = [core = core_] { return core->database->compact(); };
  co_return co_await offload(core_->pool, std::move(job));
}

Result<void> RocksStore::health() const { return core_->committer.health(); }

void RocksStore::drop_caches() { core_->database->drop_caches(); }

Task<void> RocksStore::close() {
  if (!core_->closing.exchange(true)) {
    closer_ = std::thread([core = core_, closed = closed_] { closed.finish(core->close()); });
  }
  co_return co_await closed_.wait();
}

RocksStore::~RocksStore() {
  if (closer_.joinable()) {
    closer_.join();
  } else if (!core_->closing.exchange(true)) {
    std::ignore = core_->close();  // nobody asked, so nobody listens; every write was durable
  }
}

}  // namespace halite::storage
