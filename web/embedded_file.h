// The files of the page, embedded by the build (cmake/embed.cmake).
#pragma once

#include <cstddef>

namespace halite::web {

struct EmbeddedFile {
  const char* name;
  const char* begin;
  const char* end;
  const char* gzipped_begin;
  const char* gzipped_end;
};
extern const EmbeddedFile kEmbeddedFiles[];
extern const std::size_t kEmbeddedFileCount;

}  // namespace halite::web
