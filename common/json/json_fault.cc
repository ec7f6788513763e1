#include "common/json/json_fault.h"

#include <string_view>

namespace halite {

std::string json_fault(simdjson::error_code error) {
  // Later versions add the name of the error before the text, and a remark after it.
  constexpr std::string_view kRemark = "This is a fatal and unrecoverable error.";
  std::string_view text = simdjson::error_message(error);
  const std::size_t colon = text.find(": ");
  if (colon != std::string_view::npos && !text.substr(0, colon).contains(' ')) {
    text.remove_prefix(colon + 2);
  }
  if (text.ends_with(kRemark)) text.remove_suffix(kRemark.size());
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace halite
