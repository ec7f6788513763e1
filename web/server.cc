#include "web/server.h"

#include <utility>

#include "query/parse/time.h"
#include "web/connection/listener.h"
#include "web/context.h"
#include "web/http/charset.h"

namespace halite::web {

struct WebServer::Impl {
  WebContext context;
  Listener listener;

  Impl(WebOptions options, WebServices services, boost::asio::any_io_executor executor,
       std::vector<boost::asio::any_io_executor> event_loops)
      : context(std::move(options), std::move(services)),
        listener(context, std::move(executor), std::move(event_loops)) {}
};

WebServer::WebServer(WebOptions options, WebServices services,
                     boost::asio::any_io_executor executor,
                     std::vector<boost::asio::any_io_executor> event_loops)
    : impl_(std::make_unique<Impl>(std::move(options), std::move(services), std::move(executor),
                                   std::move(event_loops))) {}

WebServer::~WebServer() { stop(); }

Result<void> WebServer::start(StartupListener* before) {
  load_charsets();
  query::load_time_zone_names();
  return impl_->listener.start(before);
}
void WebServer::stop() { impl_->listener.stop(); }
std::uint16_t WebServer::port() const { return impl_->listener.port(); }
MemoryUser WebServer::memory_user() const {
  const ByteBudget& bodies = impl_->context.bodies;
  return {.setting = "web.bodies_bytes_max", .used = [&bodies] { return bodies.used(); }};
}
std::size_t WebServer::connections() const { return impl_->listener.connections(); }

}  // namespace halite::web
