#include "storage/backends/hbase/bulk_load/web_hdfs.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/bytes/percent.h"
#include "common/json/json_value.h"
#include "storage/backends/hbase/bulk_load/http_call.h"
#include "storage/backends/hbase/rpc/transport.h"

namespace halite::storage::hbase {
namespace {

namespace asio = boost::asio;
namespace json = boost::json;

constexpr unsigned kTriesMax = 5;  // of one request, at each NameNode
constexpr std::string_view kPrefix = "/webhdfs/v1";

// The exception of an answer, by its simple name.
struct RemoteFault {
  std::string name;
  std::string message;
};

json::value parsed(const std::string& body) {
  boost::system::error_code bad;
  json::value value = parse_json_value(body, bad);
  return bad ? json::value() : value;
}

const json::value* member(const json::value& of, std::string_view name) {
  const json::object* const object = of.if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

std::string text_of(const json::value* value) {
  const json::string* const text = value == nullptr ? nullptr : value->if_string();
  return text == nullptr ? std::string() : std::string(text->begin(), text->end());
}

RemoteFault fault_of(const HttpAnswer& answer) {
  const json::value body = parsed(answer.body);
  const json::value* const exception = member(body, "RemoteException");
  if (exception == nullptr) return {.name = {}, .message = answer.body.substr(0, 200)};
  return {.name = text_of(member(*exception, "exception")),
          .message = text_of(member(*exception, "message"))};
}

Error error_of(const Endpoint& server, const HttpAnswer& answer, const std::string& what) {
  const RemoteFault fault = fault_of(answer);
  const auto first_line = std::string_view(fault.message).substr(0, fault.message.find('\n'));
  std::string message = fmt::format("{} answered {} to {}: {}{}{}", to_text(server), answer.status,
                                    what, fault.name, fault.name.empty() ? "" : ": ", first_line);
  Errc code = Errc::kUnavailable;
  if (fault.name == "FileNotFoundException" || answer.status == 404) code = Errc::kNotFound;
  if (fault.name == "FileAlreadyExistsException") code = Errc::kConflict;
  if (fault.name == "AccessControlException" || answer.status == 403) code = Errc::kForbidden;
  if (answer.status == 401) {
    code = Errc::kUnauthenticated;
    message += "; Halite has no Kerberos for WebHDFS";
  }
  // Their status is 403, too.
  if (fault.name == "StandbyException" || fault.name == "RetriableException") {
    code = Errc::kUnavailable;
  }
  if (answer.status == 400) code = Errc::kInvalidArgument;
  return {code, std::move(message), {}};
}

// http://HOST:PORT/REST, where a DataNode takes a file.
Result<HttpTarget> target_from(const std::string& location) {
  constexpr std::string_view kHttp = "http://";
  std::string_view rest = location;
  const auto bad = [&location] {
    return fail(Errc::kUnavailable,
                fmt::format("a NameNode redirects to \"{}\", expected http://HOST:PORT/...",
                            location.substr(0, 200)));
  };
  if (!rest.starts_with(kHttp)) return bad();
  rest.remove_prefix(kHttp.size());
  const std::size_t slash = rest.find('/');
  const std::size_t colon = rest.substr(0, slash).rfind(':');
  if (slash == std::string_view::npos || colon == std::string_view::npos) return bad();
  HttpTarget target;
  target.server.host = rest.substr(0, colon);
  const std::string_view port = rest.substr(colon + 1, slash - colon - 1);
  const auto [end, error] =
      std::from_chars(port.data(), port.data() + port.size(), target.server.port);
  if (error != std::errc() || end != port.data() + port.size()) return bad();
  target.path = rest.substr(slash);
  return target;
}

// What all files share.
class Nodes {
 public:
  Nodes(std::vector<Endpoint> name_nodes, LoadDirectoryOptions options)
      : name_nodes_(std::move(name_nodes)), options_(std::move(options)) {}

  // An operation of the NameNode, until an active one answers. Errors are those of the last answer.
  Task<HttpAnswer> ask(HttpMethod method, std::string path, std::string operation) {
    const std::string target =
        fmt::format("{}{}?op={}&user.name={}", kPrefix, percent_encoded(path, "/"), operation,
                    percent_encoded(options_.user));
    const std::string what =
        fmt::format("{} of {}", operation.substr(0, operation.find('&')), path);
    asio::steady_timer timer(co_await asio::this_coro::executor);
    std::uint64_t pause_ms = options_.pause_ms;
    for (unsigned tries = 1;; ++tries) {
      Error last;
      for (std::size_t i = 0; i < name_nodes_.size(); ++i) {
        const Endpoint node = name_nodes_[active_ % name_nodes_.size()];
        Result<HttpAnswer> answer = co_await call_http(
            method,
            HttpTarget{.server = at(node), .path = target, .timeout_ms = options_.timeout_ms});
        if (answer && answer->status < 400) co_return answer;
        last = answer ? error_of(node, *answer, what) : std::move(answer).error();
        if (last.code != Errc::kUnavailable && last.code != Errc::kTimeout) {
          co_return std::unexpected(std::move(last));
        }
        ++active_;
      }
      if (tries == kTriesMax) {
        last.code = Errc::kUnavailable;
        co_return std::unexpected(std::move(last));
      }
      timer.expires_after(std::chrono::milliseconds(pause_ms));
      pause_ms *= 2;
      co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
    }
  }

  // The boolean that it answers.
  Task<bool> ask_whether(HttpMethod method, std::string path, std::string operation) {
    Task<HttpAnswer> asking = ask(method, path, operation);
    CO_TRY(const HttpAnswer answer, co_await std::move(asking));
    const json::value body = parsed(answer.body);
    const json::value* const boolean = member(body, "boolean");
    const bool* const value = boolean == nullptr ? nullptr : boolean->if_bool();
    if (value == nullptr) {
      co_return fail(Errc::kUnavailable,
                     fmt::format("a NameNode answered \"{}\" to {} of {}, expected a boolean",
                                 answer.body.substr(0, 200), operation, path));
    }
    co_return *value;
  }

  // Bytes of a file; nothing: there is none.
  Task<std::optional<std::uint64_t>> length(std::string path) {
    Task<HttpAnswer> asking = ask(HttpMethod::kGet, path, "GETFILESTATUS");
    const Result<HttpAnswer> answer = co_await std::move(asking);
    if (!answer && answer.error().code == Errc::kNotFound) {
      co_return std::optional<std::uint64_t>();
    }
    CO_TRY_VOID(answer);
    const json::value body = parsed(answer->body);
    const json::value* const status = member(body, "FileStatus");
    const json::value* const length = status == nullptr ? nullptr : member(*status, "length");
    if (length == nullptr || !length->is_int64() || length->as_int64() < 0) {
      co_return fail(Errc::kUnavailable,
                     fmt::format("a NameNode does not say how long {} is", path));
    }
    co_return std::optional(static_cast<std::uint64_t>(length->as_int64()));
  }

  Task<std::unique_ptr<HttpUpload>> open(std::string path) {
    Task<HttpAnswer> asking =
        ask(HttpMethod::kPut, std::move(path), "CREATE&overwrite=true&permission=666");
    CO_TRY(const HttpAnswer answer, co_await std::move(asking));
    CO_TRY(HttpTarget target, target_from(answer.location));
    target.server = at(target.server);
    target.timeout_ms = options_.timeout_ms;
    co_return co_await HttpUpload::open(std::move(target));
  }

 private:
  // Where a server of this name is reached.
  [[nodiscard]] Endpoint at(const Endpoint& server) const {
    for (const HostOverride& host : options_.hosts) {
      if (host.host != server.host) continue;
      return {host.instead.host, host.instead.port == 0 ? server.port : host.instead.port};
    }
    return server;
  }

  const std::vector<Endpoint> name_nodes_;
  const LoadDirectoryOptions options_;
  std::atomic<std::size_t> active_ = 0;  // the one that answered last, modulo their number
};

std::string unfinished(const std::string& path) {
  const std::size_t slash = path.rfind('/') + 1;
  return path.substr(0, slash) + "_" + path.substr(slash) + ".tmp";
}

class WebHdfsFile final : public LoadFileWriter {
 public:
  WebHdfsFile(std::shared_ptr<Nodes> nodes, std::unique_ptr<HttpUpload> upload, std::string path)
      : nodes_(std::move(nodes)), upload_(std::move(upload)), path_(std::move(path)) {}

  Task<void> write(Bytes bytes) override {
    bytes_ += bytes.size();
    co_return co_await upload_->write(std::move(bytes));
  }

  Task<void> finish() override {
    Task<HttpAnswer> finishing = upload_->finish();
    CO_TRY(const HttpAnswer answer, co_await std::move(finishing));
    if (answer.status != 201) {
      co_return fail(Errc::kUnavailable,
                     fmt::format("a DataNode answered {} to the upload of {}: {}", answer.status,
                                 path_, fault_of(answer).message));
    }
    CO_TRY_VOID(co_await compare_length(unfinished(path_)));
    const std::string operation = "RENAME&destination=" + percent_encoded(path_, "/");
    CO_TRY(const bool renamed,
           co_await nodes_->ask_whether(HttpMethod::kPut, unfinished(path_), operation));
    // A repeated request finds that the first one has done it.
    if (!renamed) CO_TRY_VOID(co_await compare_length(path_));
    co_return Result<void>();
  }

 private:
  Task<void> compare_length(std::string path) {
    CO_TRY(const std::optional<std::uint64_t> length, co_await nodes_->length(path));
    if (length == bytes_) co_return Result<void>();
    co_return fail(Errc::kUnavailable,
                   fmt::format("{} bytes were written to {} in HDFS, which has {}", bytes_, path,
                               length ? std::to_string(*length) : std::string("no such file")));
  }

  const std::shared_ptr<Nodes> nodes_;
  const std::unique_ptr<HttpUpload> upload_;
  const std::string path_;
  std::uint64_t bytes_ = 0;
};

class WebHdfs final : public LoadDirectory {
 public:
  WebHdfs(std::vector<Endpoint> name_nodes, std::string dir, LoadDirectoryOptions options)
      : nodes_(std::make_shared<Nodes>(std::move(name_nodes), std::move(options))),
        dir_(std::move(dir)) {}

  Task<void> make(std::string name) override {
    const std::string path = dir_ + "/" + name;
    CO_TRY(const bool made,
           co_await nodes_->ask_whether(HttpMethod::kPut, path, "MKDIRS&permission=777"));
    if (made) co_return Result<void>();
    co_return fail(Errc::kUnavailable, fmt::format("HDFS cannot create the directory {}", path));
  }
  [[nodiscard]] std::string path_of(std::string_view name, std::string_view file) const override {
    return fmt::format("{}/{}/{}", dir_, name, file);
  }
  [[nodiscard]] std::optional<std::string> path_in(std::string_view url) const override {
    constexpr std::string_view kHdfs = "hdfs://";
    if (url.starts_with('/')) return std::string(url);
    if (!url.starts_with(kHdfs)) return std::nullopt;
    url.remove_prefix(kHdfs.size());
    const std::size_t slash = url.find('/');
    if (slash == std::string_view::npos) return std::nullopt;
    return std::string(url.substr(slash));
  }
  // Region servers take it to be on the file system of their root directory.
  [[nodiscard]] std::string url_of(const std::string& path) const override { return path; }

  Task<std::unique_ptr<LoadFileWriter>> create(std::string path) override {
    CO_TRY(std::unique_ptr<HttpUpload> upload, co_await nodes_->open(unfinished(path)));
    co_return std::make_unique<WebHdfsFile>(nodes_, std::move(upload), std::move(path));
  }
  Task<bool> exists(std::string path) override {
    CO_TRY(const std::optional<std::uint64_t> length, co_await nodes_->length(std::move(path)));
    co_return length.has_value();
  }
  Task<bool> rename(std::string from, std::string to) override {
    const std::string operation = "RENAME&destination=" + percent_encoded(to, "/");
    Task<bool> asking = nodes_->ask_whether(HttpMethod::kPut, std::move(from), operation);
    Result<bool> renamed = co_await std::move(asking);
    if (!renamed && renamed.error().code == Errc::kNotFound) co_return false;
    co_return renamed;
  }
  Task<void> remove(std::string path) override {
    for (const std::string& name : {path, unfinished(path)}) {
      Task<bool> asking = nodes_->ask_whether(HttpMethod::kDelete, name, "DELETE");
      const Result<bool> removed = co_await std::move(asking);  // false: there was none
      if (!removed && removed.error().code != Errc::kNotFound) {
        co_return std::unexpected(removed.error());
      }
    }
    co_return Result<void>();
  }

 private:
  const std::shared_ptr<Nodes> nodes_;
  const std::string dir_;
};

}  // namespace

std::unique_ptr<LoadDirectory> make_web_hdfs(std::vector<Endpoint> name_nodes, std::string dir,
                                             LoadDirectoryOptions options) {
  return std::make_unique<WebHdfs>(std::move(name_nodes), std::move(dir), std::move(options));
}

}  // namespace halite::storage::hbase
