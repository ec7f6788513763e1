#include "storage/catalog/names/name_bytes.h"

#include <utility>

#include "common/bytes/utf8.h"

namespace halite::storage {
namespace {

constexpr char kNameMark = '\0';

Bytes marked(std::string_view name) { return kNameMark + Bytes(name); }

// nullopt if a character has no byte.
std::optional<Bytes> latin1_of(std::string_view text) {
  Bytes bytes;
  while (!text.empty()) {
    const CodePoint next = decode_utf8(text);
    if (next.bytes == 0 || next.value > 0xFF) return std::nullopt;
    bytes.push_back(static_cast<char>(next.value));
    text.remove_prefix(next.bytes);
  }
  return bytes;
}

KeyRange keys_with(Bytes prefix) {
  KeyRange range;
  range.end = prefix_end(prefix);
  range.begin = std::move(prefix);
  return range;
}

}  // namespace

Bytes NameBytes::of(std::string_view name) const {
  if (form_ == NameForm::kUtf8) return Bytes(name);
  const bool like_a_mark = name.starts_with(kNameMark);
  if (!like_a_mark && is_ascii(name)) return Bytes(name);
  if (!is_utf8(name)) return Bytes(name);
  std::optional<Bytes> bytes = latin1_of(name);
  // In a mixed table, an earlier version may have stored another name as these bytes.
  const bool taken = bytes && form_ == NameForm::kMixed && is_utf8(*bytes);
  if (like_a_mark || !bytes || taken) return marked(name);
  return *std::move(bytes);
}

std::optional<Bytes> NameBytes::earlier(std::string_view name) const {
  if (form_ != NameForm::kMixed || is_ascii(name) || !is_utf8(name)) return std::nullopt;
  return Bytes(name);
}

std::string NameBytes::name(BytesView bytes) const {
  if (form_ == NameForm::kUtf8) return std::string(bytes);
  if (bytes.size() > 1 && bytes.starts_with(kNameMark) && is_utf8(bytes.substr(1))) {
    return std::string(bytes.substr(1));
  }
  if (is_ascii(bytes) || (form_ == NameForm::kMixed && is_utf8(bytes))) return std::string(bytes);
  return latin1_to_utf8(bytes);
}

std::vector<KeyRange> NameBytes::ranges(std::string_view prefix) const {
  if (form_ == NameForm::kUtf8) return {keys_with(Bytes(prefix))};
  std::vector<KeyRange> ranges = {keys_with(marked(prefix))};
  if (prefix.empty()) {
    ranges.push_back({.begin = prefix_end(marked({})), .end = {}});
    return ranges;
  }
  if (std::optional<Bytes> bytes = latin1_of(prefix))
    ranges.push_back(keys_with(*std::move(bytes)));
  if (const auto bytes = earlier(prefix)) ranges.push_back(keys_with(*bytes));
  return ranges;
}

}  // namespace halite::storage
