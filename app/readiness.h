// Tells systemd how the service is (sd_notify), when it asked for that with $NOTIFY_SOCKET.
#pragma once

#include <string_view>

#include "common/result.h"

namespace halite::app {

// Sends "READY=1", "STOPPING=1", ... to the socket named by $NOTIFY_SOCKET: a path, or "@name" for
// an abstract one. Does nothing without it.
Result<void> notify_service_manager(std::string_view state);

}  // namespace halite::app
