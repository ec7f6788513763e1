#include "web/connection/listen_address.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "common/log.h"

namespace halite::web {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr std::chrono::milliseconds kAcceptPause(100);

// The system resolves a name. If it has addresses of both kinds, IPv4 comes first.
Result<tcp::endpoint> tcp_endpoint_of(const ListenAddress& wanted,
                                      const asio::any_io_executor& executor) {
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(wanted.address, error);
  if (!error) return tcp::endpoint(address, wanted.port);
  tcp::resolver resolver(executor);
  const auto found = resolver.resolve(wanted.address, "", tcp::resolver::passive, error);
  if (error || found.empty()) {
    return fail(
        Errc::kUnavailable,
        fmt::format("cannot listen on \"{}\": it is not an address and not a host name ({})",
                    wanted.address, error ? error.message() : "it has no address"));
  }
  const auto chosen = std::ranges::find_if(
      found, [](const auto& entry) { return entry.endpoint().address().is_v4(); });
  const auto& entry = chosen == found.end() ? *found.begin() : *chosen;
  return tcp::endpoint(entry.endpoint().address(), wanted.port);
}

}  // namespace

Result<void> bind_acceptor(const ListenAddress& wanted, tcp::acceptor& acceptor) {
  TRY(const tcp::endpoint endpoint, tcp_endpoint_of(wanted, acceptor.get_executor()));
  boost::system::error_code error;
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) return {};
  return fail(Errc::kUnavailable, fmt::format("cannot listen on {} port {}: {}", wanted.address,
                                              wanted.port, error.message()));
}

asio::awaitable<void> pause_accepting(asio::steady_timer& timer, boost::system::error_code error) {
  log::warn("cannot accept a connection: {}", error.message());
  timer.expires_after(kAcceptPause);
  auto waiting = timer.async_wait(asio::as_tuple(asio::use_awaitable));
  (void)co_await std::move(waiting);
}

}  // namespace halite::web
