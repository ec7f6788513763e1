// With fmt 9, every file that formats text compiles all of the formatting code, about 6 % of
// Halite's code. From fmt 10 on, the library contains it. This header is precompiled into every
// file (cmake/precompiled.cmake), so that only fmt_once.cc compiles that code.
#pragma once

#include <fmt/format.h>

#if FMT_VERSION / 10000 == 9
#define HALITE_FMT_ONCE                                                                        \
  template void vformat_to<char>(buffer<char>&, basic_string_view<char>,                       \
                                 basic_format_args<FMT_BUFFER_CONTEXT(type_identity_t<char>)>, \
                                 locale_ref)
FMT_BEGIN_NAMESPACE
namespace detail {
extern HALITE_FMT_ONCE;
}  // namespace detail
FMT_END_NAMESPACE
#endif
