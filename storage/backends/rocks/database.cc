#include "storage/backends/rocks/database.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/convenience.h>
#include <rocksdb/table.h>

#include "common/log.h"
#include "storage/backends/rocks/files/checkpoint.h"
#include "storage/backends/rocks/files/created.h"
#include "storage/backends/rocks/files/file_system.h"
#include "storage/backends/rocks/files/lasting_write.h"
#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/files/table_format.h"
#include "storage/backends/rocks/inspect/manifest_tail.h"
#include "storage/backends/rocks/inspect/wal_check.h"
#include "storage/backends/rocks/log_floor.h"
#include "storage/backends/rocks/table_list.h"
#include "storage/backends/shared/wide_column_rules.h"
#include "storage/files/posix_files.h"

namespace halite::storage::rocks {

namespace fs = std::filesystem;

namespace {

constexpr BytesView kFormatKey = "format";
constexpr BytesView kFormatPrefix = "halite-cells ";
constexpr std::string_view kTablePrefix = "table/";
constexpr std::size_t kMetaWriteBufferBytes = 1 << 20;  // few keys, often rewritten

Bytes format_text(StoreFormat format) {
  return fmt::format("{}{}", kFormatPrefix, static_cast<int>(format));
}

// If CURRENT is lost, RocksDB would create a new database and delete the existing files.
Result<void> check_is_empty(FileSystem& files, const std::string& dir) {
  TRY(const std::vector<std::string> names, files.list(dir));
  for (const std::string& name : names) {
    if (name.ends_with(".sst") || name.ends_with(".log")) {
      return fail(Errc::kCorruption,
                  fmt::format("{} holds {}, but its file CURRENT is missing", dir, name));
    }
  }
  return {};
}

std::unexpected<Error> missing_end(const std::string& dir, const std::string& what) {
  return fail(Errc::kCorruption,
              fmt::format("the end of the manifest of {} is damaged: it listed {}. Nothing was "
                          "changed. Restore the data directory from a copy",
                          dir, what));
}

rocksdb::ColumnFamilyOptions meta_options() {
  rocksdb::BlockBasedTableOptions table;
  table.format_version = kTableFormatVersion;
  rocksdb::ColumnFamilyOptions family;
  family.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  family.write_buffer_size = kMetaWriteBufferBytes;
  return family;
}

std::string absolute(const std::string& dir) {
  std::error_code error;
  const fs::path path = fs::absolute(dir, error).lexically_normal();
  std::string text = error ? dir : path.string();
  while (text.size() > 1 && text.back() == '/') text.pop_back();
  return text;
}

RocksOptions with_absolute_dir(RocksOptions options) {
  options.dir = absolute(options.dir);
  return options;
}

}  // namespace

Database::Database(const RocksOptions& options, const Clock& clock)
    : options_(with_absolute_dir(options)),
      clock_(clock),
      files_(options.files != nullptr ? options.files : posix_files()),
      env_(rocksdb::NewCompositeEnv(make_file_system(files_, write_fence_))),
      block_cache_(rocksdb::NewLRUCache(options.block_cache_bytes)) {}

Result<std::unique_ptr<Database>> Database::open(const RocksOptions& options, const Clock& clock) {
  std::unique_ptr<Database> database(new Database(options, clock));
  if (!options.read_only) TRY_VOID(make_dirs(*database->files_, database->options_.dir));
  TRY_VOID(database->lock_dir());
  TRY_VOID(options.read_only ? database->open_db() : database->open_whole());
  TRY_VOID(database->check_format());
  TRY_VOID(database->load_contents());
  return database;
}

Result<void> Database::lock_dir() {
  // Lock before any other access: while another process writes, the files are not consistent.
  Result<std::unique_ptr<FileLock>> lock = files_->lock(options_.dir + "/halite.lock");
  if (!lock && lock.error().code == Errc::kConflict) {
    return fail(Errc::kConflict,
                fmt::format("data directory {} is in use by another process", options_.dir),
                lock.error().message);
  }
  TRY(lock_, std::move(lock));
  return {};
}

Result<std::vector<std::string>> Database::list_column_families() const {
  TRY(const FileKind current, files_->kind(options_.dir + "/CURRENT"));
  if (current == FileKind::kNone) {
    TRY_VOID(check_is_empty(*files_, options_.dir));
    return std::vector<std::string>{rocksdb::kDefaultColumnFamilyName};
  }
  std::vector<std::string> names;
  TRY_VOID(checked(
      rocksdb::DB::ListColumnFamilies(database_options(options_, env_.get()), options_.dir, &names),
      fmt::format("cannot open {}", options_.dir)));
  return names;
}

// Opens with the rest of a cut manifest, or restores its end.
Result<void> Database::open_whole() {
  TRY(const ManifestCut cut, cut_torn_manifest(*files_, options_.dir));
  // A manifest that was cut at the end of a record looks whole. RocksDB deletes the tables that it
  // no longer lists.
  TRY(const bool stored, has_tables(*files_, options_.dir));
  const Result<std::vector<std::string>> families = list_column_families();
  const bool lists_none = stored && families && families->size() == 1;
  Result<void> opened;
  if (cut.made() || lists_none) opened = check_rest();
  if (opened) opened = open_db();
  if (!opened) {
    if (cut.made()) TRY_VOID(undo_cut(*files_, cut));
    return opened;
  }
  TRY(const std::vector<std::string> asides, list_aside(*files_, options_.dir));
  if (asides.empty()) return {};
  std::vector<rocksdb::LiveFileMetaData> live;
  db_->GetLiveFilesMetaData(&live);
  std::set<std::string> names;
  for (const rocksdb::LiveFileMetaData& file : live) names.insert(name_of(file.name));
  for (const std::string& aside : asides) {
    TRY(const std::size_t orphans, keep_orphans(*files_, aside, names));
    if (orphans == 0) continue;
    log::warn(
        "{} has {} tables that the manifest no longer lists, most likely from an unfinished write: "
        "remove it if no data is missing",
        aside, orphans);
  }
  return {};
}

// The rest of a manifest must contain the families of all listed tables. RocksDB ignores families
// that it does not know, and deletes the log with their data.
Result<void> Database::check_rest() const {
  TRY(const std::vector<std::string> names, list_column_families());
  std::vector<rocksdb::ColumnFamilyDescriptor> only = {
      {rocksdb::kDefaultColumnFamilyName, rocksdb::ColumnFamilyOptions()}};
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  TRY_VOID(checked(rocksdb::DB::OpenForReadOnly(database_options(options_, env_.get()),
                                                options_.dir, only, &handles, &opened),
                   fmt::format("cannot open {}", options_.dir)));
  const std::unique_ptr<rocksdb::DB> db(opened);
  const std::unique_ptr<rocksdb::ColumnFamilyHandle> contents(handles[0]);
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator({}, contents.get()));
  bool format = false;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const BytesView key = it->key().ToStringView();
    format = format || key == kFormatKey;
    if (!key.starts_with(kTablePrefix)) continue;
    TRY(const std::vector<FamilySpec> specs, parse_table_text(it->value().ToStringView()));
    for (const FamilySpec& spec : specs) {
      const std::string family = fmt::format("{}/{}", key.substr(kTablePrefix.size()), spec.name);
      if (std::ranges::find(names, family) == names.end()) return missing_end(options_.dir, family);
    }
  }
  TRY_VOID(checked(it->status(), fmt::format("cannot read the contents of {}", options_.dir)));
  TRY(const bool stored, has_tables(*files_, options_.dir));
  return format || !stored ? Result<void>() : missing_end(options_.dir, "its contents");
}

Result<void> Database::open_db() {
  TRY(const std::vector<std::string> names, list_column_families());
  const auto floor = [this, &names] { return log_floor(env_.get(), options_.dir, names); };
  if (!options_.accept_damaged_log && !options_.read_only) {
    TRY_VOID(check_logs(*files_, options_.dir, floor));
  }

  std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
  std::vector<SharedTtl> ttls;
  for (const std::string& name : names) {
    // The TTLs are in the database; until they are read, compactions keep everything.
    ttls.push_back(std::make_shared<std::atomic<std::int64_t>>(0));
    auto family = family_options(options_, block_cache_, ttls.back(), clock_);
    if (name == rocksdb::kDefaultColumnFamilyName) {
      family = meta_options();
    }
    wanted.emplace_back(name, std::move(family));
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  rocksdb::DBOptions how = database_options(options_, env_.get());
  how.listeners.push_back(recovery_);
  WriteRecovery::set_up(how);
  how.paranoid_checks = !options_.read_only;  // read-only mode shows all that can be read
  const rocksdb::Status status =
      options_.read_only ? rocksdb::DB::OpenForReadOnly(how, options_.dir, wanted, &handles, &db)
                         : rocksdb::DB::Open(how, options_.dir, wanted, &handles, &db);
  TRY_VOID(checked(status, fmt::format("cannot open {}", options_.dir)));
  db_.reset(db);
  for (std::size_t i = 0; i < names.size(); ++i) {
    column_families_[names[i]] = {handles[i], ttls[i]};
  }
  return {};
}

Result<void> Database::put_meta(BytesView key, BytesView value) {
  const std::string what = fmt::format("cannot write to {}", options_.dir);
  rocksdb::WriteBatch batch;
  TRY_VOID(checked(batch.Put(meta(), key, value), what));
  return checked(write_lasting(*db_, meta(), batch), what);
}

Result<void> Database::check_format() {
  const std::lock_guard lock(mutex_);
  const rocksdb::Status status = db_->Get({}, meta(), kFormatKey, &format_);
  if (status.IsNotFound()) {
    TRY(const bool stored, has_tables(*files_, options_.dir));
    if (column_families_.size() == 1 && !stored) {  // new, or the first start was interrupted
      format_ = format_text(StoreFormat::kFirst);
      return options_.read_only ? Result<void>() : put_meta(kFormatKey, format_);
    }
    return fail(Errc::kCorruption, fmt::format("{} has lost the record of its format: files are "
                                               "missing. Restore the data directory from a copy",
                                               options_.dir));
  }
  TRY_VOID(checked(status, fmt::format("cannot read the format of {}", options_.dir)));
  const Bytes first = format_text(StoreFormat::kFirst);
  const Bytes last = format_text(StoreFormat::kViews);
  if (format_ == first || format_ == last) return {};
  return fail(
      Errc::kUnsupported,
      fmt::format("{} has the format \"{}\"; this version of Halite reads \"{}\" and \"{}\"",
                  options_.dir, format_, first, last));
}

Result<void> Database::set_format(StoreFormat format) {
  const std::lock_guard lock(mutex_);
  Bytes text = format_text(format);
  if (text == format_) return {};
  TRY_VOID(put_meta(kFormatKey, text));
  format_ = std::move(text);
  return {};
}

Result<void> Database::load_contents() {
  const std::lock_guard lock(mutex_);
  const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator({}, meta()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const BytesView key = it->key().ToStringView();
    const BytesView value = it->value().ToStringView();
    if (key == kSeenTimeKey && value.size() == sizeof(std::uint64_t)) {
      seen_time_ = static_cast<TimestampMs>(load_be<std::uint64_t>(value.data()));
    } else if (key.starts_with(kTablePrefix)) {
      TRY_VOID(load_table(std::string(key.substr(kTablePrefix.size())), value));
    }
  }
  return checked(it->status(), fmt::format("cannot read the contents of {}", options_.dir));
}

Result<void> Database::load_table(const std::string& name, BytesView text) {
  TableEntry entry;
  entry.noted = text;
  TRY(entry.specs, parse_table_text(text));
  for (const FamilySpec& spec : entry.specs) {
    TRY(FamilyHandle family, family_of(name + "/" + spec.name, false));
    family.ttl_ms->store(spec.ttl_ms);
    entry.families.push_back(std::move(family));
  }
  tables_.emplace(name, std::move(entry));
  return {};
}

Result<FamilyHandle> Database::family_of(const std::string& name, bool make) {
  const auto found = column_families_.find(name);
  if (found != column_families_.end()) return found->second;
  if (!make) {
    return fail(Errc::kCorruption,
                fmt::format("{} lists the family {}, but does not hold it", options_.dir, name));
  }
  FamilyHandle family;
  family.ttl_ms = std::make_shared<std::atomic<std::int64_t>>(0);
  const auto family_of_table = family_options(options_, block_cache_, family.ttl_ms, clock_);
  const auto created = db_->CreateColumnFamily(family_of_table, name, &family.column_family);
  // After an error it may be there even so.
  if (family.column_family != nullptr) column_families_.emplace(name, family);
  TRY_VOID(checked(created, fmt::format("cannot create the family {}", name)));
  return family;
}

Result<void> Database::make_table(const TableSpec& spec) {
  TableEntry entry;
  entry.specs = spec.families;
  for (FamilySpec& family : entry.specs) {
    // A family that a crash left before the table was listed is empty, and is used.
    TRY(FamilyHandle handle, family_of(spec.name + "/" + family.name, true));
    entry.families.push_back(std::move(handle));
    family.ttl_ms = 0;  // until another TTL is stored
  }
  tables_.emplace(spec.name, std::move(entry));
  return {};
}

Result<void> Database::set_ttls(TableEntry& entry, const TableSpec& spec) {
  for (std::size_t i = 0; i < entry.families.size(); ++i) {
    const std::int64_t ttl_ms = spec.families[i].ttl_ms;
    const std::uint64_t rewrite_s = rewrite_after_s(ttl_ms);
    if (rewrite_s != rewrite_after_s(entry.specs[i].ttl_ms)) {
      TRY_VOID(
          checked(db_->SetOptions(entry.families[i].column_family,
                                  {{"periodic_compaction_seconds", std::to_string(rewrite_s)}}),
                  fmt::format("cannot change the TTL of {}", spec.name)));
    }
    entry.families[i].ttl_ms->store(ttl_ms);
    entry.specs[i].ttl_ms = ttl_ms;
  }
  return {};
}

Result<std::vector<FamilyHandle>> Database::open_table(const TableSpec& spec) {
  TRY_VOID(check_table_spec(spec));
  const std::lock_guard lock(mutex_);
  if (!tables_.contains(spec.name) && options_.read_only) {
    return fail(Errc::kNotFound, fmt::format("{} has no table {}", options_.dir, spec.name));
  }
  if (!tables_.contains(spec.name)) TRY_VOID(make_table(spec));
  TableEntry& entry = tables_.at(spec.name);
  TRY_VOID(check_same_families(entry.specs, spec));
  if (options_.read_only) return entry.families;
  TRY_VOID(set_ttls(entry, spec));
  const std::string text = table_text(entry.specs);
  if (text != entry.noted) {
    TRY_VOID(put_meta(std::string(kTablePrefix) + spec.name, text));
    entry.noted = text;
  }
  return entry.families;
}

Result<void> Database::checkpoint(const std::string& dir) {
  return make_checkpoint(*db_, *files_, absolute(dir));
}

Result<void> Database::compact() {
  std::vector<rocksdb::ColumnFamilyHandle*> families;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, family] : column_families_) families.push_back(family.column_family);
  }
  rocksdb::CompactRangeOptions everything;
  everything.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForce;
  for (rocksdb::ColumnFamilyHandle* family : families) {
    TRY_VOID(checked(db_->CompactRange(everything, family, nullptr, nullptr),
                     fmt::format("cannot compact {}", options_.dir)));
  }
  return {};
}

Result<void> Database::close() {
  Result<void> outcome;
  if (db_ != nullptr) {
    const std::lock_guard lock(mutex_);
    recovery_->end(*write_fence_);
    rocksdb::CancelAllBackgroundWork(db_.get(), true);
    for (const auto& [name, family] : column_families_) {
      db_->DestroyColumnFamilyHandle(family.column_family);
    }
    column_families_.clear();
    tables_.clear();
    outcome = checked(db_->Close(), fmt::format("cannot close {}", options_.dir));
    db_.reset();
  }
  lock_.reset();
  return outcome;
}

Database::~Database() {
  // Only after a failed open(), or for a store that was not closed. There is no caller for the
  // error.
  std::ignore = close();
}

}  // namespace halite::storage::rocks
