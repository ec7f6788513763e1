#include "tests/support/fake_bulk_loads.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "storage/backends/hbase/proto/bulk_load.pb.h"
#include "tests/support/hfile_reader.h"

namespace halite::test {
namespace {

namespace fs = std::filesystem;
namespace pb = storage::hbase::pb;

constexpr std::string_view kScheme = "file:";

// Of a URL or a path: one leading slash.
std::string path_from(std::string_view url) {
  if (url.starts_with(kScheme)) url.remove_prefix(kScheme.size());
  while (url.starts_with("//")) url.remove_prefix(1);
  return std::string(url);
}

Bytes content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(in), {});
}

}  // namespace

bool FakeBulkLoads::does(const std::string& method) {
  return method == "PrepareBulkLoad" || method == "BulkLoadHFile" || method == "CleanupBulkLoad";
}

FakeAnswer FakeBulkLoads::run(const FakeRequest& request, const FakeReaction& reaction) {
  if (request.method == "PrepareBulkLoad") return prepare();
  if (request.method == "CleanupBulkLoad") return clean_up(request);
  return load(request, reaction);
}

FakeAnswer FakeBulkLoads::prepare() {
  if (dir_.empty()) return refusal({"DoNotRetryIOException", "no staging directory", true});
  const std::string made = dir_ + "/" + std::to_string(++last_);
  fs::create_directories(made);
  pb::PrepareBulkLoadResponse response;
  response.set_bulk_token(std::string(kScheme) + made);
  return answer(response);
}

// As HBase: the files of a call go into the staging directory, then into the region, or none does.
FakeAnswer FakeBulkLoads::load(const FakeRequest& request, const FakeReaction& reaction) {
  const auto message = parsed<pb::BulkLoadHFileRequest>(request.message);
  FakeRegion* const region = data_.region_named(message.region().value());
  if (region == nullptr || region->server != request.server || region->closed) {
    return refusal({"NotServingRegionException", "it is not online", false});
  }
  pb::BulkLoadHFileResponse response;
  response.set_loaded(false);
  if (reaction.what == FakeReaction::kRefuse) return answer(response);
  std::vector<ReadCell> cells;
  for (const auto& path : message.family_path()) {
    const Result<ReadHFile> file = read_hfile(content(path_from(path.path())));
    if (!file) return answer(response);
    for (const ReadCell& cell : file->cells) {
      if (!region->contains(cell.row) || cell.family != path.family()) return answer(response);
      cells.push_back(cell);
    }
  }
  for (const auto& path : message.family_path()) {
    const fs::path from = path_from(path.path());
    const fs::path to = fs::path(path_from(message.bulk_token())) / path.family();
    fs::create_directories(to);
    fs::rename(from, to / from.filename());
    if (reaction.what != FakeReaction::kRefuseStaged) fs::remove(to / from.filename());
  }
  if (reaction.what == FakeReaction::kRefuseStaged) return answer(response);
  for (ReadCell& cell : cells) {
    FakeCell made{.row = std::move(cell.row),
                  .family = std::move(cell.family),
                  .qualifier = std::move(cell.qualifier),
                  .time = static_cast<std::uint64_t>(cell.time),
                  .value = std::move(cell.value)};
    data_.put(region->table, std::move(made));
  }
  response.set_loaded(true);
  return answer(response);
}

FakeAnswer FakeBulkLoads::clean_up(const FakeRequest& request) {
  const auto message = parsed<pb::CleanupBulkLoadRequest>(request.message);
  fs::remove_all(path_from(message.bulk_token()));
  return answer(pb::CleanupBulkLoadResponse());
}

}  // namespace halite::test
