#include "web/access/base64.h"

#include <algorithm>

#include <openssl/evp.h>

namespace halite::web {
namespace {

const unsigned char* octets(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

bool letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/';
}

}  // namespace

Bytes to_base64(BytesView bytes) {
  Bytes text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // a zero byte behind it
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), octets(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<Bytes> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  const std::size_t over = text.size() % 4;
  if (over == 1 || !std::ranges::all_of(text, letter)) return std::nullopt;
  Bytes padded(text);
  padded.append(over == 0 ? 0 : 4 - over, '=');
  Bytes bytes(padded.size() / 4 * 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()), octets(padded),
                                   static_cast<int>(padded.size()));
  if (size < 0) return std::nullopt;
  bytes.resize(text.size() * 3 / 4);
  return bytes;
}

}  // namespace halite::web
