// Headers that keep a browser from taking an answer for anything but what it is.
#pragma once

#include <string>
#include <string_view>

namespace halite::web {

// Of every answer with a content: its type is what is said. Of pages also: nothing but what comes
// from this server may run in them, be shown in them or show them in a frame.
void append_security_headers(std::string& head, std::string_view content_type);

}  // namespace halite::web
