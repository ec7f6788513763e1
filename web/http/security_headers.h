// Headers that stop browsers from misinterpreting an answer.
#pragma once

#include <string>
#include <string_view>

namespace halite::web {

// For every answer with content: the declared type is final. For pages also: they run, show and are
// framed by only what comes from this server.
void append_security_headers(std::string& head, std::string_view content_type);

}  // namespace halite::web
