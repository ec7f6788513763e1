#include "app/bulk/store_target.h"

#include "common/threads/run_here.h"

namespace halite::app {
namespace {

class StorePart final : public ImportPart {
 public:
  StorePart(ingest::Writer& writer, const ingest::ImportFormat& format) : batch_(writer, format) {}
  std::uint64_t parse(const ingest::ImportText& text) override { return batch_.add(text); }
  void add(const std::vector<ingest::SeriesPoints>& points) override { batch_.add(points); }
  Result<ingest::Imported> store() override { return run_here(batch_.commit()); }

 private:
  ingest::ImportBatch batch_;
};

}  // namespace

std::unique_ptr<ImportPart> StoreTarget::new_part() {
  return std::make_unique<StorePart>(writer_, format_);
}

}  // namespace halite::app
