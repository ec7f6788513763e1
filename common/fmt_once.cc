#include "common/fmt_once.h"

#ifdef HALITE_FMT_ONCE
FMT_BEGIN_NAMESPACE
namespace detail {
HALITE_FMT_ONCE;
}  // namespace detail
FMT_END_NAMESPACE
#endif
