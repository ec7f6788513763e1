// Notifies systemd of the service's state (sd_notify), if $NOTIFY_SOCKET is set.
#pragma once

#include <string_view>

#include "common/result.h"

namespace halite::app {

// Sends "READY=1", "STOPPING=1", ... to the socket in $NOTIFY_SOCKET: a path, or "@name" for an
// abstract socket. Does nothing if it is not set.
Result<void> notify_service_manager(std::string_view state);

}  // namespace halite::app
