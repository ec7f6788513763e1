// fmt 9 has every file that formats anything compile the whole of formatting anew, some 6 % of our
// code; from 10 on its library has it. Precompiled into every file (cmake/precompiled.cmake), so
// that fmt_once.cc alone does.
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
