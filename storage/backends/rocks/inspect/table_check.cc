#include "storage/backends/rocks/inspect/table_check.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/sst_file_reader.h>

#include "storage/backends/rocks/files/status.h"
#include "storage/backends/rocks/inspect/damage_search.h"

namespace halite::storage::rocks {
namespace {

// The last bytes of a file: kind of checksum (1), the places of two blocks (four varints, zeros up
// to 40 bytes), version (4) and magic number (8), both little-endian.
constexpr std::size_t kFooterBytes = 53;
constexpr std::size_t kHandlesEnd = 41;
constexpr int kHandleNumbers = 4;
constexpr char kXxh3 = 4;
constexpr BytesView kVersionAndMagic("\x05\0\0\0\xF7\xCF\xF4\x85\xB7\x41\xE2\x88", 12);

// Empty if the footer is as Halite writes it. RocksDB would trust one with another kind of
// checksum, including none.
std::string footer_fault(BytesView footer) {
  if (footer[0] != kXxh3) return "names another kind of checksum";
  if (footer.substr(kHandlesEnd) != kVersionAndMagic) return "has another version or number";
  std::size_t at = 1;
  const auto goes_on = [footer](std::size_t byte) {
    return (static_cast<unsigned char>(footer[byte]) & 0x80U) != 0;
  };
  for (int numbers = 0; at < kHandlesEnd && numbers < kHandleNumbers; ++at) {
    if (goes_on(at)) continue;
    ++numbers;
    if (footer[at] == '\0' && goes_on(at - 1) && at > 1) return "has a number with bits to spare";
  }
  const BytesView padding = footer.substr(at, kHandlesEnd - at);
  const bool zero = std::ranges::all_of(padding, [](char byte) { return byte == '\0'; });
  return zero ? "" : "has bytes where zeros belong";
}

Result<std::string> read_footer_fault(FileSystem& files, const std::string& path,
                                      std::uint64_t& offset) {
  TRY(const std::unique_ptr<File> file, files.open(path, OpenFile::kRead));
  TRY(const std::uint64_t bytes, file->size());
  if (bytes < kFooterBytes) return fmt::format("is missing: the file has {} bytes", bytes);
  offset = bytes - kFooterBytes;
  Bytes footer(kFooterBytes, '\0');
  TRY(const std::size_t got, file->pread(offset, footer));
  footer.resize(got);
  return got == kFooterBytes ? footer_fault(footer) : "cannot be read";
}

// RocksDB says " in <file> offset <n> size <n>".
std::optional<std::uint64_t> offset_in(std::string_view message) {
  constexpr std::string_view kOffset = " offset ";
  const std::size_t at = message.rfind(kOffset);
  if (at == std::string_view::npos) return std::nullopt;
  const char* const begin = message.data() + at + kOffset.size();
  std::uint64_t offset = 0;
  const auto [end, error] = std::from_chars(begin, message.data() + message.size(), offset);
  return error == std::errc() ? std::optional(offset) : std::nullopt;
}

class TableWalk {
 public:
  TableWalk(rocksdb::SstFileReader& reader, const EachCell& each) : reader_(reader), each_(each) {
    options_.verify_checksums = true;
    options_.fill_cache = false;
    options_.ignore_range_deletions = true;
    options_.total_order_seek = true;
  }

  std::vector<TableDamage> walk() {
    renew();
    at_->SeekToFirst();
    do {
      tell_cells();
    } while (!ended_ && skip_damage());
    return std::move(damages_);
  }

  // The callback has stopped the check.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  // After an error, an iterator keeps failing.
  void renew() { at_.reset(reader_.NewIterator(options_)); }

  // Reads up to the end or to damage.
  void tell_cells() {
    for (; at_->Valid() && !ended_; at_->Next()) {
      last_ = at_->key().ToString();
      ended_ = !each_(*last_, at_->value().ToStringView());
    }
  }

  // Moves after the unreadable keys. Returns false at the end.
  bool skip_damage() {
    const rocksdb::Status status = at_->status();
    if (status.IsAborted()) ended_ = true;  // files/read_hook.h
    if (status.ok() || ended_) return false;
    TableDamage damage;
    damage.what = status.ToString();
    damage.offset = offset_in(damage.what);
    damage.keys.emplace();
    damage.may_pass = !status.IsCorruption();
    damage.keys->after = last_;
    const auto can_read = [this](BytesView key) -> Result<bool> {
      renew();
      at_->Seek(key);
      return at_->Valid() || at_->status().ok();
    };
    const Result<Bytes> behind = key_past_damage(last_.value_or(Bytes()), {}, can_read);
    renew();
    at_->Seek(*behind);
    if (at_->Valid()) damage.keys->before = at_->key().ToString();
    damages_.push_back(std::move(damage));
    return at_->Valid();
  }

  rocksdb::SstFileReader& reader_;
  const EachCell& each_;
  rocksdb::ReadOptions options_;
  std::unique_ptr<rocksdb::Iterator> at_;
  std::optional<Bytes> last_;  // the last key read
  bool ended_ = false;
  std::vector<TableDamage> damages_;
};

}  // namespace

Result<std::string> why_unopenable(FileSystem& files, const rocksdb::Options& options,
                                   const std::string& path) {
  std::uint64_t footer_offset = 0;
  TRY(const std::string fault, read_footer_fault(files, path, footer_offset));
  if (!fault.empty()) return "the footer " + fault;
  rocksdb::SstFileReader reader(options);
  const rocksdb::Status opened = reader.Open(path);
  if (opened.ok()) return std::string();
  if (opened.IsCorruption()) return opened.ToString();
  return std::unexpected(error_of(opened, "cannot open " + path));
}

std::vector<TableDamage> check_table(FileSystem& files, const rocksdb::Options& options,
                                     const std::string& path, const EachCell& each) {
  std::uint64_t footer_offset = 0;
  const Result<std::string> fault = read_footer_fault(files, path, footer_offset);
  const auto whole = [](std::string what, std::optional<std::uint64_t> offset,
                        bool may_pass = false) {
    return std::vector<TableDamage>{{std::move(what), offset, TableDamage::Keys(), may_pass}};
  };
  if (!fault) {
    return whole(fault.error().message, std::nullopt, fault.error().code != Errc::kNotFound);
  }
  if (!fault->empty()) return whole("the footer " + *fault, footer_offset);
  rocksdb::SstFileReader reader(options);
  const rocksdb::Status opened = reader.Open(path);
  if (opened.IsAborted()) return {};
  if (!opened.ok()) {
    return whole(opened.ToString(), offset_in(opened.ToString()), !opened.IsCorruption());
  }
  TableWalk walk(reader, each);
  std::vector<TableDamage> damages = walk.walk();
  if (walk.ended()) return damages;
  // Reads the blocks that describe the file; stops at damaged data blocks.
  rocksdb::ReadOptions all;
  all.fill_cache = false;
  const rocksdb::Status verified = reader.VerifyChecksum(all);
  if (!verified.ok() && !verified.IsAborted() && damages.empty()) {
    damages.push_back({verified.ToString(), offset_in(verified.ToString()), std::nullopt,
                       !verified.IsCorruption()});
  }
  return damages;
}

}  // namespace halite::storage::rocks
