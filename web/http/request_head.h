// Normalises the head of an HTTP request to the grammar of HTTP: lines end in CR LF, and one blank
// separates the words of the first line.
//
// Line ends   all lines of a head may end in a bare LF (RFC 9112, 2.2). A head with both kinds is
//             refused: a proxy that treats a bare LF as part of a value would see other headers,
//             and so another end of the request. Only the empty line at the end may differ; then
//             no other request may follow.
// Blanks      several blanks or tabs may stand between and around the three words of the first
//             line. A blank before a header's colon stays; the parser refuses it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::web {

// Finds the end of a head that arrives in pieces.
class HeadEnd {
 public:
  // The end of the head in `bytes`, after its empty line; npos if it is incomplete. `bytes` begins
  // with the bytes of the previous call.
  [[nodiscard]] std::size_t find(std::string_view bytes);

 private:
  std::size_t looked_ = 0;  // no end begins before this
};

struct RequestHead {
  std::string text;   // normalised; empty if the head needs no change
  bool last = false;  // no request may follow
};

// `head` includes its empty line. kInvalidArgument: it mixes line ends.
[[nodiscard]] Result<RequestHead> tidy_head(std::string_view head);

}  // namespace halite::web
