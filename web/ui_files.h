// The page's files, built into the binary (cmake/embed.cmake makes the table).
#pragma once

#include <string>
#include <string_view>

namespace halite::web {

struct UiFile {
  std::string_view name;  // "index.html"
  std::string_view bytes;
  std::string_view gzipped;  // the same, compressed
};

// nullptr: no such file. "" is the page itself.
[[nodiscard]] const UiFile* find_ui_file(std::string_view name);

[[nodiscard]] std::string_view content_type_of(std::string_view file_name);

// Changes when the bytes change; in quotes, as HTTP wants it.
[[nodiscard]] std::string etag_of(const UiFile& file);

}  // namespace halite::web
