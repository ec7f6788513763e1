#include "web/access/secret.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>

#include "common/bytes/base64.h"

namespace halite::web {
namespace {

constexpr std::size_t kSaltBytes = 16;
constexpr std::size_t kKeyBytes = 32;
constexpr std::size_t kTokenBytes = 32;
constexpr std::uint64_t kMemoryMax = 256 << 20;
constexpr std::string_view kScheme = "$scrypt$";

struct Hashed {
  ScryptCost cost;
  Bytes salt;
  Bytes key;
};

const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::uint64_t memory_of(const ScryptCost& cost) {
  return (std::uint64_t{128} * cost.r << cost.log2_n) + std::uint64_t{128} * cost.r * cost.p;
}

std::optional<Bytes> derive(std::string_view password, const ScryptCost& cost, BytesView salt,
                            std::size_t bytes) {
  Bytes key(bytes, '\0');
  const int made = EVP_PBE_scrypt(password.data(), password.size(), octets(salt), salt.size(),
                                  std::uint64_t{1} << cost.log2_n, cost.r, cost.p, 2 * kMemoryMax,
                                  reinterpret_cast<unsigned char*>(key.data()), key.size());
  if (made != 1) return std::nullopt;
  return key;
}

// Parses "ln=15" with the given name, and moves past it and `end`.
bool take_number(std::string_view& text, std::string_view name, char end, unsigned& number) {
  if (!text.starts_with(name)) return false;
  text.remove_prefix(name.size());
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || stop == text.data() + text.size() || *stop != end) return false;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);
  return true;
}

std::optional<Hashed> parse(std::string_view text) {
  Hashed hashed;
  if (!text.starts_with(kScheme)) return std::nullopt;
  text.remove_prefix(kScheme.size());
  if (!take_number(text, "ln=", ',', hashed.cost.log2_n) ||
      !take_number(text, "r=", ',', hashed.cost.r) ||
      !take_number(text, "p=", '$', hashed.cost.p)) {
    return std::nullopt;
  }
  const ScryptCost& cost = hashed.cost;
  const bool sane = cost.log2_n >= 1 && cost.log2_n <= 24 && cost.r >= 1 && cost.r <= 64 &&
                    cost.p >= 1 && cost.p <= 16;
  if (!sane || memory_of(cost) > kMemoryMax) return std::nullopt;
  const std::size_t dollar = text.find('$');
  if (dollar == std::string_view::npos) return std::nullopt;
  std::optional<Bytes> salt = from_base64(text.substr(0, dollar));
  std::optional<Bytes> key = from_base64(text.substr(dollar + 1));
  if (!salt || !key || salt->size() < 8 || key->size() < 16) return std::nullopt;
  hashed.salt = *std::move(salt);
  hashed.key = *std::move(key);
  return hashed;
}

std::string unpadded(BytesView bytes) {
  Bytes text = to_base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  return text;
}

}  // namespace

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) != 1) {
    return fail(Errc::kInternal, "the system provides no random numbers");
  }
  return bytes;
}

Result<std::string> hash_password(std::string_view password, ScryptCost cost) {
  if (password.contains('\0')) {
    return fail(Errc::kInvalidArgument, "a password must not contain a zero byte");
  }
  TRY(const std::string salt, random_bytes(kSaltBytes));
  const std::optional<Bytes> key = derive(password, cost, salt, kKeyBytes);
  if (!key) return fail(Errc::kInternal, "scrypt failed, possibly for lack of memory");
  return fmt::format("{}ln={},r={},p={}${}${}", kScheme, cost.log2_n, cost.r, cost.p,
                     unpadded(salt), unpadded(*key));
}

Result<void> check_password_hash(std::string_view hash) {
  if (parse(hash)) return {};
  return fail(Errc::kInvalidArgument,
              "a password must have the form $scrypt$ln=..,r=..,p=..$SALT$KEY, as printed by "
              "`halite auth user`");
}

bool password_fits(std::string_view password, std::string_view hash) {
  const std::optional<Hashed> hashed = parse(hash);
  // scrypt begins with HMAC, which pads short passwords with zeros.
  if (!hashed || password.contains('\0')) return false;
  const std::optional<Bytes> key = derive(password, hashed->cost, hashed->salt, hashed->key.size());
  return key && CRYPTO_memcmp(key->data(), hashed->key.data(), key->size()) == 0;
}

Digest sha256(std::string_view text) {
  Digest digest;
  SHA256(octets(text), text.size(), digest.data());
  return digest;
}

Result<std::string> new_token() {
  TRY(const std::string bytes, random_bytes(kTokenBytes));
  std::string text = unpadded(bytes);
  for (char& c : text) {  // safe in URLs, command lines and config files
    if (c == '+') c = '-';
    if (c == '/') c = '_';
  }
  return std::string(kTokenPrefix) + text;
}

}  // namespace halite::web
