#include "app/bulk/store_target.h"

#include "common/threads/run_here.h"

namespace halite::app {

class StoreTarget::Part final : public ImportPart {
 public:
  explicit Part(StoreTarget& target) : target_(target), batch_(target.writer_, target.format_) {}

  std::uint64_t parse(const ingest::ImportText& text) override { return batch_.add(text); }
  void add(const std::vector<ingest::SeriesPoints>& points) override { batch_.add(points); }

  Result<ingest::Imported> store() override {
    TRY(ingest::Imported imported, run_here(batch_.commit()));
    const std::lock_guard lock(target_.mutex_);
    target_.written_.push_back(imported.durable);
    return imported;
  }

 private:
  StoreTarget& target_;
  ingest::ImportBatch batch_;
};

std::unique_ptr<ImportPart> StoreTarget::new_part() { return std::make_unique<Part>(*this); }

// A write that fails after it was accepted tells only its completion.
Task<void> StoreTarget::make_durable() {
  std::vector<Completion> written;
  {
    const std::lock_guard lock(mutex_);
    std::swap(written, written_);
  }
  CO_TRY_VOID(co_await flush_());
  for (const Completion& write : written) CO_TRY_VOID(co_await write.wait());
  co_return Result<void>();
}

}  // namespace halite::app
