// The lines of an HTTP request's head as people's clients send them, made those that the grammar of
// HTTP wants: CR LF at their ends, one blank between the words of the first.
//
// Line ends   a head may end all of its lines in a bare LF (RFC 9112, 2.2). Both kinds of ends in
//             one head are refused: a proxy in front that takes a bare LF for a byte of a value
//             would see other headers, and so another end of the request, than we do. Only the
//             empty line that ends a head may differ; no other request may then follow.
// Blanks      several of them, or tabs, between the three words of the first line and around them.
//             A blank before a header's colon stays, and is refused by who parses the head.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/result.h"

namespace halite::web {

// Finds the end of a head that comes in pieces.
class HeadEnd {
 public:
  // Where the head ends in `bytes`, behind its empty line; npos: later. The bytes begin with those
  // of the call before.
  [[nodiscard]] std::size_t find(std::string_view bytes);

 private:
  std::size_t looked_ = 0;  // no end begins before this
};

struct RequestHead {
  std::string text;   // rewritten; empty: the head is as HTTP wants it
  bool last = false;  // what follows is not to be taken for a request
};

// `head` ends with its empty line. kInvalidArgument: its lines end in two ways.
[[nodiscard]] Result<RequestHead> tidy_head(std::string_view head);

}  // namespace halite::web
