#include "web/access/authorization.h"

#include <optional>

#include <boost/algorithm/string/predicate.hpp>

#include "common/bytes/base64.h"
#include "web/access/secret.h"

namespace halite::web {

Login password_login(std::string_view user, std::string_view password) {
  if (password.starts_with(kTokenPrefix)) return TokenLogin{std::string(password)};
  return PasswordLogin{std::string(user), std::string(password)};
}

Result<Login> parse_authorization(std::string_view header) {
  const std::size_t space = header.find(' ');
  const std::string_view scheme = header.substr(0, space);
  header.remove_prefix(space == std::string_view::npos ? header.size() : space);
  while (header.starts_with(' ')) header.remove_prefix(1);
  while (header.ends_with(' ')) header.remove_suffix(1);
  if (boost::algorithm::iequals(scheme, "Bearer")) return TokenLogin{std::string(header)};
  if (boost::algorithm::iequals(scheme, "Token")) {
    const std::size_t colon = header.find(':');
    if (colon == std::string_view::npos) return TokenLogin{std::string(header)};
    return password_login(header.substr(0, colon), header.substr(colon + 1));
  }
  if (!boost::algorithm::iequals(scheme, "Basic")) {
    return fail(Errc::kUnauthenticated, "The Authorization header must be Bearer, Token or Basic");
  }
  const std::optional<Bytes> pair = from_base64(header);
  const std::size_t colon = pair ? pair->find(':') : std::string::npos;
  if (colon == std::string::npos) {
    return fail(Errc::kUnauthenticated,
                "Authorization: Basic must contain base64 of NAME:PASSWORD");
  }
  return password_login(std::string_view(*pair).substr(0, colon),
                        std::string_view(*pair).substr(colon + 1));
}

}  // namespace halite::web
