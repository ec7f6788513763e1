#include "app/bulk/store_target.h"

#include "common/threads/run_here.h"

namespace halite::app {
namespace {

class StorePart final : public ImportPart {
 public:
  explicit StorePart(ingest::Writer& writer) : batch_(writer) {}
  std::uint64_t parse(std::string_view text) override { return batch_.add(text); }
  Result<ingest::Imported> store() override { return run_here(batch_.commit()); }

 private:
  ingest::ImportBatch batch_;
};

}  // namespace

std::unique_ptr<ImportPart> StoreTarget::new_part() { return std::make_unique<StorePart>(writer_); }

}  // namespace halite::app
