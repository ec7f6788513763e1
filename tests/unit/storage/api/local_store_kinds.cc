// The stores that keep what they have on this machine, or nowhere.
#include "common/check.h"
#include "storage/backends/memory/memory_store.h"
#include "storage/backends/rocks/rocks_store.h"
#include "tests/support/faulty_files.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/api/store_contract.h"

namespace halite::storage {

using test::run_task;

const TimestampMs kTestNow = 1'700'000'000'000;

namespace {

class MemoryHarness final : public StoreHarness {
 public:
  explicit MemoryHarness(const Clock& clock) : store_(clock) {}
  WideColumnStore& store() override { return store_; }
  void reopen() override { HALITE_CHECK(false, "a memory store keeps nothing"); }

 private:
  MemoryStore store_;
};

// A RocksDB in a directory of its own, with limits small enough to be met.
class RocksHarness : public StoreHarness {
 public:
  explicit RocksHarness(const Clock& clock, std::shared_ptr<FileSystem> files = nullptr)
      : clock_(clock) {
    options_.files = std::move(files);
    options_.dir = dir_.path() + "/store";
    options_.block_cache_bytes = 4 << 20;
    options_.commit_queue_bytes_max = 64 << 10;
    options_.commit_group_bytes_max = 16 << 10;
    open();
  }
  WideColumnStore& store() override { return *store_; }
  void reopen() override {
    const Result<void> closed = run_task(store_->close());
    HALITE_CHECK(closed, "the store under test does not close");
    open();
  }

 protected:
  void open() {
    store_.reset();
    auto opened = RocksStore::open(options_, clock_, registry_);
    HALITE_CHECK(opened, opened.error().message);
    store_ = *std::move(opened);
  }

 private:
  const Clock& clock_;
  test::TempDir dir_;
  prometheus::Registry registry_;
  RocksOptions options_;
  std::unique_ptr<RocksStore> store_;
};

// The same on files that lose what was not synced, and between two openings do.
class CrashingHarness final : public RocksHarness {
 public:
  explicit CrashingHarness(const Clock& clock)
      : CrashingHarness(clock, std::make_shared<test::FaultyFiles>(1)) {}
  void reopen() override {
    files_->cut_power();
    std::ignore = run_task(store().close());  // fails, as everything does without power
    files_->restore_power();
    open();
  }

 private:
  CrashingHarness(const Clock& clock, std::shared_ptr<test::FaultyFiles> files)
      : RocksHarness(clock, files), files_(std::move(files)) {}

  const std::shared_ptr<test::FaultyFiles> files_;
};

template <class Harness>
std::unique_ptr<StoreHarness> make_harness(const Clock& clock) {
  return std::make_unique<Harness>(clock);
}

}  // namespace

std::vector<StoreKind> store_kinds() {
  return {{.name = "memory", .lasts = false, .make = make_harness<MemoryHarness>},
          {.name = "rocks", .lasts = true, .make = make_harness<RocksHarness>},
          {.name = "crashing", .lasts = true, .make = make_harness<CrashingHarness>}};
}

}  // namespace halite::storage
