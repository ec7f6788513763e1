#include "tests/support/fake_region_server.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include "common/check.h"
#include "storage/backends/hbase/proto/rpc.pb.h"
#include "tests/support/fake_frames.h"
#include "tests/support/fake_region_calls.h"

namespace halite::test {

namespace asio = boost::asio;
namespace pb = storage::hbase::pb;
using asio::ip::tcp;

namespace {

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);

// One connection. Only on the server's thread.
struct Session {
  Session(tcp::socket its_socket, std::size_t its_server)
      : socket(std::move(its_socket)), server(its_server), wake(socket.get_executor()) {
    wake.expires_at(asio::steady_timer::time_point::max());
  }
  void close() {
    boost::system::error_code ignored;
    socket.close(ignored);
    wake.cancel();
  }
  tcp::socket socket;
  const std::size_t server;
  asio::steady_timer wake;  // for the writer, or once the server listens again
  std::deque<Bytes> answers;
  bool writing = false;
};
using SessionPtr = std::shared_ptr<Session>;

}  // namespace

class FakeHBase::World : public std::enable_shared_from_this<World> {
 public:
  explicit World(std::size_t servers) {
    std::vector<storage::hbase::Endpoint> endpoints;
    for (std::size_t i = 0; i < servers; ++i) {
      const tcp::endpoint any(asio::ip::address_v4::loopback(), 0);
      tcp::acceptor& acceptor = listeners_.emplace_back(context_, any);
      endpoints.push_back({"127.0.0.1", acceptor.local_endpoint().port()});
    }
    endpoints_ = endpoints;
    calls_ = std::make_unique<FakeRegionCalls>(std::move(endpoints));
    deaf_.resize(servers);
    refusing_.resize(servers);
    bytes_read_.resize(servers);
  }

  void start() {
    for (std::size_t i = 0; i < listeners_.size(); ++i) {
      asio::co_spawn(context_, accept(shared_from_this(), i), asio::detached);
    }
    thread_ = std::thread([this] { context_.run(); });
  }

  // Runs it on the server's thread and waits.
  template <class Work>
  auto on_thread(Work work) {
    return asio::post(context_, asio::use_future(std::move(work))).get();
  }

  // The thread ends when nothing is open any more.
  void stop() {
    on_thread([this] {
      boost::system::error_code ignored;
      for (tcp::acceptor& listener : listeners_) listener.close(ignored);
      for (const SessionPtr& session : sessions_) session->close();
    });
    thread_.join();
  }

  FakeHBaseData& data() { return calls_->data(); }
  FakeRegionCalls& region_calls() { return *calls_; }
  [[nodiscard]] const storage::hbase::Endpoint& endpoint(std::size_t server) const {
    return endpoints_[server];
  }

  void set_script(Script script) { script_ = std::move(script); }
  void set_deaf(std::size_t server, bool deaf) {
    deaf_[server] = deaf;
    for (const SessionPtr& session : sessions_) session->wake.cancel();
  }
  void cut(std::size_t server, bool refuse) {
    refusing_[server] = refuse;
    for (const SessionPtr& session : sessions_) {
      if (session->server == server) session->close();
    }
  }
  [[nodiscard]] std::size_t count(const std::string& method) const {
    const auto found = counts_.find(method);
    return found == counts_.end() ? 0 : found->second;
  }
  [[nodiscard]] std::size_t connections() const { return connections_; }
  [[nodiscard]] std::size_t bytes_read(std::size_t server) const { return bytes_read_[server]; }

 private:
  using Self = std::shared_ptr<World>;

  static asio::awaitable<void> accept(Self self, std::size_t server) {
    for (;;) {
      auto [error, socket] = co_await self->listeners_[server].async_accept(kAwait);
      if (error) co_return;
      if (self->refusing_[server]) continue;  // closed as it goes
      ++self->connections_;
      auto session = std::make_shared<Session>(std::move(socket), server);
      self->sessions_.insert(session);
      asio::co_spawn(self->context_, serve(self, session), asio::detached);
    }
  }

  static asio::awaitable<void> serve(Self self, SessionPtr session) {
    Bytes bytes(6, '\0');
    bool reads = co_await read(self, session, bytes);
    if (reads && bytes == Bytes("HBas\0P", 6)) {
      reads = co_await read_frame(self, session, bytes);  // the connection's header
      while (reads) {
        reads = co_await read_frame(self, session, bytes);
        if (reads) self->handle(session, bytes);
      }
    }
    session->close();
    self->sessions_.erase(session);
  }

  static asio::awaitable<bool> read(Self self, SessionPtr session, Bytes& bytes) {
    const auto buffer = asio::buffer(bytes);
    const auto [error, count] = co_await asio::async_read(session->socket, buffer, kAwait);
    self->bytes_read_[session->server] += count;
    co_return !error;
  }

  static asio::awaitable<bool> read_frame(Self self, SessionPtr session, Bytes& bytes) {
    while (self->deaf_[session->server] && session->socket.is_open()) {
      session->wake.expires_at(asio::steady_timer::time_point::max());
      std::ignore = co_await session->wake.async_wait(kAwait);
    }
    bytes.resize(4);
    const bool has_length = co_await read(self, session, bytes);
    if (!has_length) co_return false;
    bytes.resize(load_be<std::uint32_t>(bytes.data()));
    co_return co_await read(self, session, bytes);
  }

  void handle(const SessionPtr& session, BytesView frame) {
    pb::RequestHeader header;
    const BytesView head = take_delimited(frame);
    HALITE_CHECK(header.ParseFromArray(head.data(), static_cast<int>(head.size())),
                 "no request header");
    FakeRequest request;
    request.server = session->server;
    request.method = header.method_name();
    request.message = take_delimited(frame);
    HALITE_CHECK(frame.size() == header.cell_block_meta().length(), "the cellblock's length lies");
    request.cellblock = frame;

    FakeCall call = FakeRegionCalls::describe(request);
    call.number = ++counts_[call.method];
    call.timeout_ms = header.timeout();
    const FakeReaction reaction = script_ ? script_(call) : FakeReaction();
    if (reaction.what == FakeReaction::kCloseBefore) return session->close();
    if (reaction.what == FakeReaction::kIgnore) return;
    const FakeAnswer answer = calls_->run(request, reaction);
    if (reaction.what == FakeReaction::kCloseAfter) return session->close();
    if (reaction.what == FakeReaction::kSwallow) return;
    Bytes bytes = framed_answer(header.call_id(), answer);
    if (reaction.delay_ms == 0) return send(session, std::move(bytes));
    asio::co_spawn(context_,
                   send_later(shared_from_this(), session, std::move(bytes), reaction.delay_ms),
                   asio::detached);
  }

  static asio::awaitable<void> send_later(Self self, SessionPtr session, Bytes bytes,
                                          std::uint32_t delay_ms) {
    asio::steady_timer timer(self->context_, std::chrono::milliseconds(delay_ms));
    std::ignore = co_await timer.async_wait(kAwait);
    self->send(session, std::move(bytes));
  }

  void send(const SessionPtr& session, Bytes bytes) {
    session->answers.push_back(std::move(bytes));
    if (session->writing) return;
    session->writing = true;
    asio::co_spawn(context_, write(session), asio::detached);
  }

  static asio::awaitable<void> write(SessionPtr session) {
    while (!session->answers.empty()) {
      const Bytes bytes = std::move(session->answers.front());
      session->answers.pop_front();
      const auto buffer = asio::buffer(bytes);
      const auto [error, count] = co_await asio::async_write(session->socket, buffer, kAwait);
      if (error) session->answers.clear();
    }
    session->writing = false;
  }

  asio::io_context context_;
  std::vector<storage::hbase::Endpoint> endpoints_;
  std::deque<tcp::acceptor> listeners_;
  std::thread thread_;

  // Only on the thread.
  std::unique_ptr<FakeRegionCalls> calls_;
  std::set<SessionPtr> sessions_;
  Script script_;
  std::vector<bool> deaf_;
  std::vector<bool> refusing_;
  std::vector<std::size_t> bytes_read_;
  std::map<std::string, std::size_t> counts_;
  std::size_t connections_ = 0;
};

FakeHBase::FakeHBase(std::size_t servers) : world_(std::make_shared<World>(servers)) {
  world_->start();
}

FakeHBase::~FakeHBase() { world_->stop(); }

storage::hbase::Endpoint FakeHBase::endpoint(std::size_t server) const {
  return world_->endpoint(server);
}

void FakeHBase::add_table(const std::string& table, const std::vector<Bytes>& split_keys) {
  world_->on_thread([&] { world_->data().add_table(table, split_keys); });
}

void FakeHBase::drop_table(const std::string& table) {
  world_->on_thread([&] { world_->data().drop_table(table); });
}

void FakeHBase::set_disabled(const std::string& table, bool disabled) {
  world_->on_thread([&] { world_->data().set_disabled(table, disabled); });
}

std::string FakeHBase::attribute(const std::string& table, const std::string& family,
                                 const std::string& name) const {
  return world_->on_thread(
      [&] { return world_->region_calls().master().attribute(table, family, name); });
}

void FakeHBase::move_region(const std::string& table, const Bytes& row, std::size_t server,
                            bool told) {
  world_->on_thread([&] {
    FakeRegion& region = *world_->data().region_of(table, row);
    region.server = server;
    ++region.sequence;
    if (told) region.server_in_meta = server;
  });
}

void FakeHBase::forget_nonces() {
  world_->on_thread([&] { world_->data().forget_nonces(); });
}

void FakeHBase::hide_region(const std::string& table, const Bytes& row) {
  world_->on_thread([&] { world_->data().region_of(table, row)->closed = true; });
}

void FakeHBase::tell_moves() {
  world_->on_thread([&] {
    for (FakeRegion& region : world_->data().regions()) region.server_in_meta = region.server;
  });
}

void FakeHBase::split_region(const std::string& table, const Bytes& key) {
  world_->on_thread([&] {
    FakeRegion& parent = *world_->data().region_of(table, key);
    FakeRegion upper = parent;
    upper.begin = key;
    parent.end = key;
    upper.id = ++parent.id;  // both are new
    world_->data().regions().push_back(upper);
  });
}

void FakeHBase::set_files(const std::string& table, const Bytes& row, std::uint32_t files) {
  world_->on_thread([&] { world_->data().region_of(table, row)->files = files; });
}

std::uint32_t FakeHBase::files(const std::string& table, const Bytes& row) const {
  return world_->on_thread([&] { return world_->data().region_of(table, row)->files; });
}

void FakeHBase::script(Script script) {
  world_->on_thread([&] { world_->set_script(std::move(script)); });
}

void FakeHBase::set_deaf(std::size_t server, bool deaf) {
  world_->on_thread([&] { world_->set_deaf(server, deaf); });
}

void FakeHBase::cut(std::size_t server, bool refuse) {
  world_->on_thread([&] { world_->cut(server, refuse); });
}

void FakeHBase::set_staging(const std::string& dir) {
  world_->on_thread([&] { world_->region_calls().set_staging(dir); });
}

void FakeHBase::set_rows_per_answer(std::size_t rows) {
  world_->on_thread([&] { world_->region_calls().set_rows_per_answer(rows); });
}

void FakeHBase::set_cells_per_answer(std::size_t cells) {
  world_->on_thread([&] { world_->region_calls().set_cells_per_answer(cells); });
}

void FakeHBase::set_heartbeat_every(std::size_t answers) {
  world_->on_thread([&] { world_->region_calls().set_heartbeat_every(answers); });
}

std::size_t FakeHBase::calls(const std::string& method) const {
  return world_->on_thread([&] { return world_->count(method); });
}

std::size_t FakeHBase::connections() const {
  return world_->on_thread([&] { return world_->connections(); });
}

std::size_t FakeHBase::bytes_read(std::size_t server) const {
  return world_->on_thread([&] { return world_->bytes_read(server); });
}

std::string FakeHBase::row_text(const std::string& table, const Bytes& row) const {
  return world_->on_thread([&] {
    std::string text;
    for (const FakeCell& cell : world_->data().cells(table, row)) {
      if (!text.empty()) text += ',';
      text += cell.family + ':' + cell.qualifier + '=' + cell.value;
    }
    return text;
  });
}

std::size_t FakeHBase::row_count(const std::string& table) const {
  return world_->on_thread([&] { return world_->data().rows(table, {}, {}).size(); });
}

}  // namespace halite::test
