#include "web/server.h"

#include <optional>
#include <utility>

#include "query/parse/time.h"
#include "web/connection/listener.h"
#include "web/context.h"
#include "web/http/charset.h"

namespace halite::web {

struct WebServer::Impl {
  WebContext context;
  Listener listener;
  std::optional<Listener> graphite;
  std::optional<Listener> graphite_pickle;

  Impl(WebOptions options, WebServices services, boost::asio::any_io_executor executor,
       std::vector<boost::asio::any_io_executor> event_loops)
      : context(std::move(options), std::move(services)),
        listener(context, PortProtocol::kHttpAndTelnet, executor, event_loops) {
    if (context.options.graphite) {
      graphite.emplace(context, PortProtocol::kGraphiteLines, executor, event_loops);
    }
    if (context.options.graphite_pickle) {
      graphite_pickle.emplace(context, PortProtocol::kGraphitePickle, executor, event_loops);
    }
  }

  Result<void> start(StartupListener* before) {
    TRY_VOID(listener.start(before));
    if (graphite) TRY_VOID(graphite->start(nullptr));
    if (graphite_pickle) TRY_VOID(graphite_pickle->start(nullptr));
    return {};
  }
  // Senders of Graphite hold no answers: their sessions end first and fast.
  void stop() {
    if (graphite) graphite->stop();
    if (graphite_pickle) graphite_pickle->stop();
    listener.stop();
  }
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
  Result<void> started = impl_->start(before);
  if (!started) impl_->stop();
  return started;
}
void WebServer::stop() { impl_->stop(); }
std::uint16_t WebServer::port() const { return impl_->listener.port(); }
std::uint16_t WebServer::graphite_port() const {
  return impl_->graphite ? impl_->graphite->port() : 0;
}
std::uint16_t WebServer::graphite_pickle_port() const {
  return impl_->graphite_pickle ? impl_->graphite_pickle->port() : 0;
}
MemoryUser WebServer::memory_user() const {
  const ByteBudget& bodies = impl_->context.bodies;
  return {.setting = "web.bodies_bytes_max", .used = [&bodies] { return bodies.used(); }};
}
std::size_t WebServer::connections() const {
  std::size_t all = impl_->listener.connections();
  if (impl_->graphite) all += impl_->graphite->connections();
  if (impl_->graphite_pickle) all += impl_->graphite_pickle->connections();
  return all;
}

}  // namespace halite::web
