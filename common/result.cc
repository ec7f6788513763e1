#include "common/result.h"

namespace halite {

std::string_view errc_name(Errc code) {
  switch (code) {
    case Errc::kNotFound:
      return "not found";
    case Errc::kInvalidArgument:
      return "invalid argument";
    case Errc::kTooLarge:
      return "too large";
    case Errc::kConflict:
      return "conflict";
    case Errc::kUnavailable:
      return "unavailable";
    case Errc::kTimeout:
      return "timeout";
    case Errc::kOverloaded:
      return "overloaded";
    case Errc::kCorruption:
      return "corruption";
    case Errc::kUnsupported:
      return "unsupported";
    case Errc::kCancelled:
      return "cancelled";
    case Errc::kUnauthenticated:
      return "unauthenticated";
    case Errc::kForbidden:
      return "forbidden";
    case Errc::kInternal:
      return "internal";
  }
  return "unknown";
}

}  // namespace halite
