#include "web/ui_files.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

#include "web/embedded_file.h"

namespace halite::web {

namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

std::vector<UiFile> all_files() {
  std::vector<UiFile> files;
  for (const EmbeddedFile& file : std::span(kEmbeddedFiles, kEmbeddedFileCount)) {
    files.push_back(
        {file.name, between(file.begin, file.end), between(file.gzipped_begin, file.gzipped_end)});
  }
  return files;
}

}  // namespace

const UiFile* find_ui_file(std::string_view name) {
  static const std::vector<UiFile> kFiles = all_files();
  if (name.empty()) name = "index.html";
  if (name == "favicon.ico") name = "favicon.svg";  // where browsers look unasked
  for (const UiFile& file : kFiles) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

std::string_view content_type_of(std::string_view file_name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kTypes = {{
      {".html", "text/html; charset=UTF-8"},
      {".js", "text/javascript; charset=UTF-8"},
      {".css", "text/css; charset=UTF-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
  }};
  for (const auto& [ending, type] : kTypes) {
    if (file_name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

std::string etag_of(const UiFile& file) {
  const auto* bytes = reinterpret_cast<const Bytef*>(file.bytes.data());
  const uLong sum = crc32_z(0, bytes, file.bytes.size());
  return fmt::format("\"{:08x}-{:x}\"", sum, file.bytes.size());
}

}  // namespace halite::web
