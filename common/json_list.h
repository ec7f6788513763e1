// Lists in JSON.
#pragma once

#include <string>

#include "common/json_string.h"

namespace halite {

// Appends "[a,b]": the output of `write(item)` for each item, separated by commas.
template <class Items, class Write>
void append_json_list(std::string& to, const Items& items, const Write& write) {
  to += '[';
  bool first = true;
  for (const auto& item : items) {
    if (!first) to += ',';
    first = false;
    write(item);
  }
  to += ']';
}

// Appends a list of strings.
template <class Texts>
void append_json_texts(std::string& to, const Texts& texts) {
  append_json_list(to, texts, [&to](const auto& text) { append_json_string(to, text); });
}

}  // namespace halite
