// An object's JSON as an answer shows it.
#pragma once

#include <string>

namespace halite::storage {

template <class Object>
std::string shown(const Object& object) {
  std::string text;
  append_shown_json(text, object);
  return text;
}

}  // namespace halite::storage
