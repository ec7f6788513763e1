// Error messages of Kerberos, with what to look at.
#pragma once

#include <string>
#include <string_view>

#include <krb5.h>

#include "common/result.h"

namespace halite::storage::hbase {

// "WHAT: TEXT; ADVICE". The code decides the advice; some codes have none.
[[nodiscard]] Error kerberos_error(std::string_view what, krb5_error_code code,
                                   std::string_view text);

// With the text that the context keeps of the code.
[[nodiscard]] Error kerberos_error(std::string_view what, krb5_context context,
                                   krb5_error_code code);

}  // namespace halite::storage::hbase
