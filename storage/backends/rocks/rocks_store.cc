#include "storage/backends/rocks/rocks_store.h"

#include <utility>

#include "common/check.h"
#include "common/threads/offload.h"
#include "storage/backends/rocks/rocks_context.h"
#include "storage/backends/rocks/table.h"

namespace halite::storage {

namespace rocks {

Result<void> RocksContext::close() {
  closing = true;
  committer.stop();
  pool.join();
  scans.close_all();
  return database->close();
}

}  // namespace rocks

RocksStore::RocksStore(std::shared_ptr<rocks::RocksContext> context)
    : context_(std::move(context)) {}

Result<std::unique_ptr<RocksStore>> RocksStore::open(const RocksOptions& options,
                                                     const Clock& clock,
                                                     prometheus::Registry& registry) {
  TRY(std::unique_ptr<rocks::Database> database, rocks::Database::open(options, clock));
  auto context =
      std::make_shared<rocks::RocksContext>(options, clock, std::move(database), registry);
  return std::unique_ptr<RocksStore>(new RocksStore(std::move(context)));
}

Task<std::shared_ptr<Table>> RocksStore::open_table(TableSpec spec) {
  CO_TRY_VOID(context_->check_open());
  auto job = [context = context_, spec = std::move(spec)] {
    return context->database->open_table(spec);
  };
  CO_TRY(std::vector<rocks::FamilyHandle> families,
         co_await offload(context_->pool, std::move(job)));
  co_return std::make_shared<rocks::RocksTable>(context_, std::move(families));
}

Task<void> RocksStore::set_format(StoreFormat format) {
  CO_TRY_VOID(context_->check_open());
  auto job = [context = context_, format] { return context->database->set_format(format); };
  co_return co_await offload(context_->pool, std::move(job));
}

std::vector<rocks::LiveFile> RocksStore::live_files() const {
  return rocks::live_files(context_->database->db());
}

Result<void> RocksStore::checkpoint(const std::string& dir) {
  TRY_VOID(context_->check_open());
  return context_->database->checkpoint(dir);
}

Task<void> RocksStore::compact() {
  CO_TRY_VOID(context_->check_open());
  auto job = [context = context_] { return context->database->compact(); };
  co_return co_await offload(context_->pool, std::move(job));
}

Result<void> RocksStore::health() const { return context_->committer.health(); }

void RocksStore::drop_caches() { context_->database->drop_caches(); }

MemoryUser RocksStore::memory_user() const { return context_->database->memory_user(); }

Task<void> RocksStore::close() {
  if (!context_->closing.exchange(true)) {
    closer_ =
        std::thread([context = context_, closed = closed_] { closed.finish(context->close()); });
  }
  co_return co_await closed_.wait();
}

RocksStore::~RocksStore() {
  if (closer_.joinable()) {
    closer_.join();
  } else if (!context_->closing.exchange(true)) {
    std::ignore = context_->close();  // no caller waits for the result; every write was durable
  }
}

}  // namespace halite::storage
