// What the answers of servers say: Halite's, OpenTSDB's, or of what stands in their place.
#pragma once

#include <string>
#include <string_view>

#include <boost/json/value.hpp>
#include <boost/system/error_code.hpp>

#include "app/client/http_client.h"

namespace halite::app {

// As parse_json_value(), but takes half a surrogate pair as U+FFFD: OpenTSDB writes one where it
// names half a character. Bytes that are not UTF-8 become U+FFFD, too.
[[nodiscard]] boost::json::value parse_answer(std::string_view body,
                                              boost::system::error_code& error);

// Of an error: "the server answered STATUS to URL: MESSAGE: DETAILS", in one line. Without a
// message in the answer: the beginning of the answer. The URL is shown without the parameters of
// the target.
[[nodiscard]] std::string answer_text(const Peer& peer, std::string_view target,
                                      const HttpReply& reply);

}  // namespace halite::app
