#include "tests/support/fake_web_hdfs.h"

// clang-format off
#include "common/boost_assertions.h"  // before Beast
// clang-format on

#include <array>
#include <atomic>
#include <charconv>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>

namespace halite::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

namespace {

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr std::string_view kPrefix = "/webhdfs/v1";

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

// The value of a parameter of the query.
std::string parameter(std::string_view target, std::string_view name) {
  const std::string wanted = fmt::format("{}=", name);
  std::size_t at = target.find('?');
  while (at != std::string_view::npos) {
    const std::string_view rest = target.substr(at + 1);
    if (rest.starts_with(wanted)) {
      return decoded(rest.substr(wanted.size(), rest.find('&') - wanted.size()));
    }
    at = target.find('&', at + 1);
  }
  return {};
}

Response made(unsigned status, std::string body, const std::string& location = {}) {
  Response response(static_cast<http::status>(status), 11);
  response.body() = std::move(body);
  if (!location.empty()) response.set(http::field::location, location);
  response.keep_alive(false);
  response.prepare_payload();
  return response;
}

Response fault(unsigned status, const std::string& name) {
  return made(status,
              fmt::format(R"({{"RemoteException":{{"exception":"{0}","javaClassName":"x.{0}",)"
                          R"("message":"told to\n\tat x"}}}})",
                          name));
}

Response boolean(bool value) { return made(200, fmt::format(R"({{"boolean":{}}})", value)); }

}  // namespace

class FakeWebHdfs::World {
 public:
  World() {
    for (std::size_t i = 0; i < 3; ++i) {
      acceptors_.emplace_back(context_, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
      threads_[i] = std::thread([this, i] { serve(i); });
    }
  }
  ~World() {
    stopping_ = true;
    for (std::size_t i = 0; i < 3; ++i) {
      tcp::socket waker(context_);
      boost::system::error_code ignored;
      waker.connect(acceptors_[i].local_endpoint(), ignored);
      threads_[i].join();
    }
  }

  std::uint16_t port(std::size_t server) const {
    return acceptors_[server].local_endpoint().port();
  }

  std::mutex mutex_;
  // mutex_ guards these.
  Script script_;
  std::string data_node_ = "localhost";
  std::map<std::string, std::string> files_;
  std::map<std::string, std::size_t> counts_;
  std::vector<std::string> targets_;

 private:
  // One connection after the other; each has one request.
  void serve(std::size_t server) {
    for (;;) {
      tcp::socket socket(context_);
      boost::system::error_code error;
      acceptors_[server].accept(socket, error);
      if (stopping_ || error) return;
      beast::flat_buffer buffer;
      Request request;
      http::read(socket, buffer, request, error);
      if (error) continue;
      std::optional<Response> response = answer(server, request);
      // As a real one does, unasked.
      constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
      if (server == 2 && response) asio::write(socket, asio::buffer(kContinue), error);
      if (response) http::write(socket, *response, error);
    }
  }

  // Nothing: the connection is closed.
  std::optional<Response> answer(std::size_t server, const Request& request) {
    const std::lock_guard lock(mutex_);
    FakeWebCall call;
    call.target = request.target();
    call.server = server;
    call.path = decoded(std::string_view(call.target).substr(0, call.target.find('?')))
                    .substr(kPrefix.size());
    call.operation = server == 2 ? "upload" : parameter(call.target, "op");
    call.number = ++counts_[call.operation];
    targets_.push_back(call.target);
    const FakeWebReaction reaction = script_ ? script_(call) : FakeWebReaction();
    switch (reaction.what) {
      case FakeWebReaction::kStandby:
        return fault(403, "StandbyException");
      case FakeWebReaction::kForbidden:
        return fault(403, "AccessControlException");
      case FakeWebReaction::kRetriable:
        return fault(403, "RetriableException");
      case FakeWebReaction::kClose:
        return std::nullopt;
      case FakeWebReaction::kFalse:
        return boolean(false);
      case FakeWebReaction::kNonsense:
        return made(200, "nonsense");
      case FakeWebReaction::kFail:
        return made(500, "out of order");
      case FakeWebReaction::kAnswer:
      case FakeWebReaction::kCloseDone:
      case FakeWebReaction::kTruncate:
        break;
    }
    Response response = run(call, request, reaction.what == FakeWebReaction::kTruncate);
    if (reaction.what == FakeWebReaction::kCloseDone) return std::nullopt;
    return response;
  }

  Response run(const FakeWebCall& call, const Request& request, bool half) {
    if (call.operation == "upload") {
      const std::string& body = request.body();
      files_[call.path] = half ? body.substr(0, body.size() / 2) : body;
      return made(201, "", "hdfs://localhost:8020" + call.path);
    }
    if (call.operation == "MKDIRS") return boolean(true);
    if (call.operation == "CREATE") {
      const std::size_t query = call.target.find('?');
      return made(307, "",
                  fmt::format("http://{}:{}{}&namenoderpcaddress=localhost:8020", data_node_,
                              port(2), call.target.substr(0, query) + call.target.substr(query)));
    }
    const auto file = files_.find(call.path);
    if (call.operation == "DELETE") return boolean(files_.erase(call.path) > 0);
    if (call.operation == "RENAME") {
      const std::string to = parameter(call.target, "destination");
      if (file == files_.end() || files_.contains(to)) return boolean(false);
      files_[to] = std::move(file->second);
      files_.erase(call.path);
      return boolean(true);
    }
    if (call.operation == "GETFILESTATUS") {
      if (file == files_.end()) return fault(404, "FileNotFoundException");
      return made(200, fmt::format(R"({{"FileStatus":{{"length":{},"type":"FILE"}}}})",
                                   file->second.size()));
    }
    return fault(400, "IllegalArgumentException");
  }

  asio::io_context context_;
  std::deque<tcp::acceptor> acceptors_;
  std::atomic<bool> stopping_ = false;
  std::array<std::thread, 3> threads_;
};

FakeWebHdfs::FakeWebHdfs() : world_(std::make_unique<World>()) {}
FakeWebHdfs::~FakeWebHdfs() = default;

std::uint16_t FakeWebHdfs::port(std::size_t server) const { return world_->port(server); }

void FakeWebHdfs::set_data_node(std::string host) {
  const std::lock_guard lock(world_->mutex_);
  world_->data_node_ = std::move(host);
}

void FakeWebHdfs::script(Script script) {
  const std::lock_guard lock(world_->mutex_);
  world_->script_ = std::move(script);
}

std::map<std::string, std::string> FakeWebHdfs::files() const {
  const std::lock_guard lock(world_->mutex_);
  return world_->files_;
}

void FakeWebHdfs::put(const std::string& path, std::string content) {
  const std::lock_guard lock(world_->mutex_);
  world_->files_[path] = std::move(content);
}

std::size_t FakeWebHdfs::calls(const std::string& operation) const {
  const std::lock_guard lock(world_->mutex_);
  return world_->counts_[operation];
}

std::vector<std::string> FakeWebHdfs::targets() const {
  const std::lock_guard lock(world_->mutex_);
  return world_->targets_;
}

}  // namespace halite::test
