#include "app/bulk/opened_data.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace halite::app {
namespace {

constexpr std::size_t kThreads = 2;

// A bulk load needs memory for heads, not for queries, and does nothing else beside it.
void prepare_to_fill(Options& options) {
  constexpr std::size_t kHeadBytes = 512 << 20;
  options.engine.log_points = false;
  options.engine.head_bytes_max = kHeadBytes;
  options.engine.head_freeze_bytes = kHeadBytes / 2;
  options.engine.head_freeze_points = UINT64_MAX;  // no start replays them
}

}  // namespace

unsigned thread_count(unsigned jobs) {
  return jobs > 0 ? jobs : std::max(1U, std::thread::hardware_concurrency());
}

std::string store_text(const Options& options) {
  if (options.store == StoreKind::kHBase) {
    return fmt::format("hbase {}{} {}", options.hbase.quorum, options.hbase.store.client.root,
                       options.cells.data_table);
  }
  std::error_code error;  // the name is empty: opening it fails
  const auto dir = std::filesystem::absolute(options.data_dir, error).lexically_normal();
  return fmt::format("{} {}", store_name(options.store), dir.string());
}

OpenedData::OpenedData(Options options)
    : options_(std::move(options)), threads_(kThreads, "tool") {}

OpenedData::~OpenedData() {
  static_cast<void>(close());
  threads_.join();
}

Result<std::unique_ptr<OpenedData>> OpenedData::open(Options options, DataUse use) {
  if (options.store == StoreKind::kMemory) {
    return fail(Errc::kInvalidArgument,
                "the store memory keeps nothing: choose another by --store");
  }
  if (use == DataUse::kFill) {
    prepare_to_fill(options);
  } else if (has_data_dir(options.store)) {
    TRY_VOID(make_read_only(options));
  } else {
    options.hbase.store.tables.create = false;
  }
  // Nothing but the points is worked on.
  options.in_tool = true;
  options.views_cpu_percent = 0;
  options.care.scrub.interval_ms = 0;
  std::unique_ptr<OpenedData> data(new OpenedData(std::move(options)));
  TRY_VOID(data->open_stores(use));
  return data;
}

Result<void> OpenedData::open_stores(DataUse use) {
  if (has_data_dir(options_.store)) {
    TRY(data_dir_, use == DataUse::kRead ? DataDir::open_to_read(options_.data_dir)
                                         : DataDir::open(options_.data_dir));
  }
  auto opened = app::open_stores(options_, clock_, executor(), registry_);
  if (!opened && use == DataUse::kFill && data_dir_) {
    return std::unexpected(explain_full_disk(opened.error(), options_.data_dir));
  }
  TRY(stores_, std::move(opened));
  return {};
}

Result<void> OpenedData::close() {
  if (!stores_) return {};
  Result<void> closed = stores_->close();
  stores_.reset();
  return closed;
}

}  // namespace halite::app
