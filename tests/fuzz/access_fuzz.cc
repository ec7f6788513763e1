// What strangers say of themselves: a header Authorization. What an operator writes: auth.file. The
// first byte chooses.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/bytes/base64.h"
#include "common/check.h"
#include "web/access/accounts.h"
#include "web/access/authorization.h"

namespace halite::web {
namespace {

void run(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] % 2 == 0) {
    const Result<Accounts> accounts = Accounts::parse(text, "file");
    if (!accounts) HALITE_CHECK(!accounts.error().message.empty(), "a refusal has a reason");
    return;
  }
  const Result<Login> login = parse_authorization(text);
  if (!login) HALITE_CHECK(login.error().code == Errc::kUnauthenticated, "nobody is known by it");
  HALITE_CHECK(from_base64(to_base64(text)) == Bytes(text), "base64 goes both ways");
}

}  // namespace
}  // namespace halite::web

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::web::run(data, size);
  return 0;
}
