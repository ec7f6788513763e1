#include "storage/backends/rocks/key.h"

#include <fmt/format.h>

namespace halite::storage::rocks {

namespace {

constexpr char kZero = '\x00';
constexpr char kEscapedZero = '\xFF';  // after a 00
constexpr char kRowEnd = '\x01';       // after a 00
constexpr char kBehindRowEnd = '\x02';

void append_row(Bytes& to, BytesView row) {
  while (true) {
    const std::size_t zero = row.find(kZero);
    to.append(row.substr(0, zero));
    if (zero == BytesView::npos) break;
    to.push_back(kZero);
    to.push_back(kEscapedZero);
    row.remove_prefix(zero + 1);
  }
  to.push_back(kZero);
  to.push_back(kRowEnd);
}

class RowPrefix final : public rocksdb::SliceTransform {
 public:
  // Part of the format: files with another name do not use their filters.
  [[nodiscard]] const char* Name() const override { return "halite.row.1"; }

  [[nodiscard]] rocksdb::Slice Transform(const rocksdb::Slice& key) const override {
    return {key.data(), row_prefix_size(key.ToStringView()).value_or(key.size())};
  }

  [[nodiscard]] bool InDomain(const rocksdb::Slice& key) const override {
    return row_prefix_size(key.ToStringView()).has_value();
  }
};

}  // namespace

Bytes row_prefix(BytesView row) {
  Bytes prefix;
  prefix.reserve(row.size() + 8);
  append_row(prefix, row);
  return prefix;
}

Bytes cell_key(BytesView row, BytesView qualifier) {
  Bytes key;
  key.reserve(row.size() + qualifier.size() + 8);
  append_cell_key(key, row, qualifier);
  return key;
}

void append_cell_key(Bytes& to, BytesView row, BytesView qualifier) {
  append_row(to, row);
  to.append(qualifier);
}

Bytes row_prefix_end(BytesView prefix) {
  Bytes end(prefix);
  end.back() = kBehindRowEnd;
  return end;
}

std::optional<std::size_t> row_prefix_size(BytesView key) {
  std::size_t zero = key.find(kZero);
  while (zero != BytesView::npos && zero + 1 < key.size()) {
    if (key[zero + 1] == kRowEnd) return zero + 2;
    if (key[zero + 1] != kEscapedZero) return std::nullopt;
    zero = key.find(kZero, zero + 2);
  }
  return std::nullopt;
}

Result<Bytes> row_of_prefix(BytesView prefix) {
  if (row_prefix_size(prefix) != prefix.size()) {
    return fail(Errc::kCorruption, fmt::format("not the key of a row: {}", to_hex(prefix)));
  }
  Bytes row;
  row.reserve(prefix.size() - 2);
  for (std::size_t i = 0; i + 2 < prefix.size(); ++i) {
    row.push_back(prefix[i]);
    if (prefix[i] == kZero) ++i;  // skip the FF
  }
  return row;
}

std::shared_ptr<const rocksdb::SliceTransform> row_prefix_extractor() {
  static const auto kExtractor = std::make_shared<const RowPrefix>();
  return kExtractor;
}

}  // namespace halite::storage::rocks
