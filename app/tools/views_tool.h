// `halite views`: lists and rebuilds the views of a running server.
#pragma once

#include <string>

#include "app/client/http_client.h"

namespace halite::app {

struct ViewsFlags {
  std::string url = "http://127.0.0.1:4242";
  PeerFiles files;
  std::string view;  // to compute anew
};

// A table of the views, a line each. The token needs the role read.
[[nodiscard]] Result<std::string> list_views(const ViewsFlags& flags);

// Begins to compute a view anew, and returns what to tell the user. The token needs the role admin.
[[nodiscard]] Result<std::string> rebuild_view(const ViewsFlags& flags);

}  // namespace halite::app
