#include "storage/tools/check/table_checker.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/db.h>

#include "storage/backends/rocks/cell.h"
#include "storage/backends/rocks/files/file_system.h"
#include "storage/backends/rocks/files/read_hook.h"
#include "storage/backends/rocks/inspect/table_check.h"
#include "storage/backends/rocks/key.h"
#include "storage/files/fenced_files.h"
#include "storage/tsdb/chunk_db/tables/chunk_state.h"

namespace halite::storage::check {
namespace {

// A row key of a name table as text.
std::string row_text(BytesView key) {
  const std::optional<std::size_t> size = rocks::row_prefix_size(key);
  const Result<Bytes> row =
      size ? rocks::row_of_prefix(key.substr(0, *size)) : Result<Bytes>(Bytes(key));
  const Bytes bytes = row.value_or(Bytes(key));
  const bool printed =
      std::ranges::all_of(bytes, [](unsigned char byte) { return byte >= 0x20 && byte < 0x7F; });
  return printed ? fmt::format("\"{}\"", bytes) : to_hex(bytes);
}

// Whether the family holds the state of the chunk database.
bool is_own_word(std::string_view family) {
  return family == rocksdb::kDefaultColumnFamilyName || family.starts_with(engine::kStatePrefix);
}

}  // namespace

TableChecker::TableChecker(std::shared_ptr<FileSystem> files, ChunkChecker& cells, Report& report)
    : files_(std::move(files)),
      env_(rocksdb::NewCompositeEnv(
          rocks::hook_reads(rocks::make_file_system(files_, std::make_shared<WriteFence>()),
                            [this](std::size_t bytes) { return !pace_ || pace_(bytes); }))),
      cells_(cells),
      report_(report) {}

Result<std::uint64_t> TableChecker::check(const rocks::LiveFile& file, TableOf of, bool size_known,
                                          const Pace& pace) {
  TRY(const FileKind kind, files_->kind(file.path));
  if (kind != FileKind::kFile) {
    add(file, of, {"is missing", std::nullopt, rocks::TableDamage::Keys()});
    return std::uint64_t{0};
  }
  TRY(const std::uint64_t bytes, files_->size(file.path));
  if (size_known && bytes != file.bytes) {
    add(file, of,
        {fmt::format("has {} bytes and was written with {}", bytes, file.bytes),
         std::min(bytes, file.bytes), rocks::TableDamage::Keys()});
    return bytes;
  }
  rocksdb::Options options;
  options.env = env_.get();
  options.merge_operator = rocks::greatest_time_operator();
  options.prefix_extractor = rocks::row_prefix_extractor();
  pace_ = pace;
  const auto each = [&](BytesView key, BytesView value) {
    cells_.cell(file, key, value);
    return true;
  };
  for (const rocks::TableDamage& damage : rocks::check_table(*files_, options, file.path, each)) {
    add(file, of, damage);
  }
  return bytes;
}

void TableChecker::add(const rocks::LiveFile& file, TableOf of, const rocks::TableDamage& damage) {
  Finding finding{.file = file.path, .offset = damage.offset, .what = damage.what};
  if (of == TableOf::kNames && damage.keys) {
    finding.what += fmt::format("; rows of {} from {} to {} cannot be read", file.family,
                                row_text(damage.keys->after.value_or(file.first_key)),
                                row_text(damage.keys->before.value_or(file.last_key)));
    finding.impact = Impact{.what = "names"};
  }
  if (of == TableOf::kChunks && is_own_word(file.family)) {
    finding.what += "; the database's summary of itself, which the next start rebuilds";
  }
  report_.findings.push_back(std::move(finding));
  if (of == TableOf::kChunks && damage.keys) {
    cells_.unreadable(report_.findings.size() - 1, file, *damage.keys);
  }
}

}  // namespace halite::storage::check
