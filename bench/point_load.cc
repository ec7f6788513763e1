// Sends points as fast as a server takes them, by telnet or remote_write: what scripts load servers
// with, since a million series are too many for Python.
//
//   point_load PORT SERIES BEGIN STEPS STEP CONNECTIONS [POINTS_A_SECOND [FIRST_HOST [WORD...]]]
//
// Series i is metric i % 10 of host FIRST_HOST + i / 10, as in TSBS's cpu-only case; each gets a
// point a step, at BEGIN (seconds), BEGIN + STEP... STEP is in seconds, or in milliseconds as
// "20ms". A connection has every CONNECTIONS-th host. Its last line is taken when the server has
// closed: then points sent are points taken in. Words change this:
//   series  all steps of a series, then the next series; otherwise a step of all, then the next
//   random  values are random numbers of two digits; otherwise they repeat after 100 steps
//   sync    points sent are durable, too, which Halite alone can say
//   remote_write  by remote_write 1.0, at most about 2,000 points a request; dots in metrics become
//   _
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <snappy.h>

namespace {

constexpr std::string_view kMetrics[] = {
    "cpu.usage_user",   "cpu.usage_system",    "cpu.usage_idle",    "cpu.usage_nice",
    "cpu.usage_iowait", "cpu.usage_irq",       "cpu.usage_softirq", "cpu.usage_steal",
    "cpu.usage_guest",  "cpu.usage_guest_nice"};
constexpr std::size_t kMetricCount = std::size(kMetrics);
constexpr std::size_t kSendBytes = 256 << 10;
constexpr std::uint64_t kPointsARequest = 2'000;

struct Load {
  std::uint16_t port = 0;
  std::uint64_t series = 0;
  std::int64_t begin = 0;  // s or ms, as `step` is; the server tells them apart
  std::int64_t steps = 0;
  std::int64_t step = 0;
  std::uint64_t connections = 1;
  std::uint64_t rate = 0;  // points a second, all connections; 0 = as fast as can be
  std::uint64_t first_host = 0;
  bool series_after_series = false;
  bool sync = false;
  bool random = false;
  bool remote_write = false;
};

void append_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

// A field of protobuf that has a length.
void append_field(std::string& out, char number, std::string_view payload) {
  out += static_cast<char>(number << 3 | 2);
  append_varint(out, payload.size());
  out += payload;
}

// prometheus.TimeSeries.labels
void append_label(std::string& out, std::string_view name, std::string_view value) {
  std::string label;
  append_field(label, 1, name);
  append_field(label, 2, value);
  append_field(out, 1, label);
}

// How the tags of a host end a put line, or are labels of a series.
std::string tags_of(const Load& load, std::uint64_t host) {
  std::pair<std::string_view, std::string> tags[] = {
      {"hostname", fmt::format("host_{}", host)},
      {"region", fmt::format("region-{}", host % 9)},
      {"datacenter", fmt::format("region-{}{}", host % 9, "abc"[host % 3])},
      {"rack", fmt::format("{}", host % 100)},
      {"os", fmt::format("Debian{}", 11 + host % 3)},
      {"arch", host % 2 == 0 ? "amd64" : "arm64"},
      {"team", fmt::format("{}", host % 5)},
      {"service", fmt::format("{}", host % 20)}};
  if (load.remote_write) std::ranges::sort(tags);
  std::string text;
  for (const auto& [name, value] : tags) {
    if (load.remote_write) {
      append_label(text, name, value);
    } else {
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
    }
  }
  return load.remote_write ? text : text + '\n';
}

// What stands between metric and value of a put line, or the field of a sample.
std::string time_of(const Load& load, std::int64_t step) {
  const std::int64_t time = load.begin + step * load.step;
  if (!load.remote_write) return fmt::format(" {} ", time);
  constexpr std::int64_t kFirstMs = 1'000'000'000'000;
  std::string field = "\x10";
  append_varint(field, static_cast<std::uint64_t>(time < kFirstMs ? time * 1000 : time));
  return field;
}

// {TimeSeries.labels of each metric's name}
std::array<std::string, kMetricCount> name_labels() {
  std::array<std::string, kMetricCount> labels;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    std::string name(kMetrics[i]);
    std::replace(name.begin(), name.end(), '.', '_');
    append_label(labels[i], "__name__", name);
  }
  return labels;
}

// The same in bench/scale_bench.py.
std::uint64_t value_of(std::uint64_t series, std::int64_t step) {
  return (series * 37 + static_cast<std::uint64_t>(step) * (1 + series % 7)) % 100;
}

// By splitmix64.
std::uint64_t random_value_of(std::uint64_t series, std::int64_t step) {
  std::uint64_t mixed = series * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(step);
  mixed = (mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB;
  return (mixed ^ (mixed >> 31)) % 100;
}

bool send_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Whether the server says that all is durable, and nothing else.
bool is_synced(int socket) {
  constexpr std::string_view kSynced = "synced\n";
  if (!send_all(socket, "sync\n")) return false;
  char said[kSynced.size()];
  const ssize_t count = ::recv(socket, said, sizeof said, MSG_WAITALL);
  return count > 0 && std::string_view(said, static_cast<std::size_t>(count)) == kSynced;
}

// Posts series of remote_write; whether the server took them all. A request has one answer without
// a body, whose head comes in one piece or more.
bool post_series(int to, std::string_view series) {
  std::string body;
  snappy::Compress(series.data(), series.size(), &body);
  if (!send_all(to, fmt::format("POST /api/v1/write HTTP/1.1\r\nHost: localhost\r\n"
                                "Content-Type: application/x-protobuf\r\n"
                                "Content-Encoding: snappy\r\nContent-Length: {}\r\n\r\n",
                                body.size()) +
                        body)) {
    return false;
  }
  std::string said;
  char piece[4096];
  while (!said.ends_with("\r\n\r\n")) {
    const ssize_t count = ::recv(to, piece, sizeof piece, 0);
    if (count <= 0) return false;
    said.append(piece, static_cast<std::size_t>(count));
    if (said.starts_with("HTTP/1.1 2") || said.size() < std::size("HTTP/1.1 2")) continue;
    fmt::print(stderr, "the server said: {}\n", said);
    return false;
  }
  return true;
}

// Whether the server closed without a word.
bool end_well(int from) {
  ::shutdown(from, SHUT_WR);
  char said[512];
  const ssize_t count = ::recv(from, said, sizeof said, 0);
  if (count > 0)
    fmt::print(stderr, "the server said: {}\n",
               std::string_view(said, static_cast<std::size_t>(count)));
  return count == 0;
}

void keep_rate(const Load& load, std::uint64_t sent, std::chrono::steady_clock::time_point since) {
  if (load.rate == 0) return;
  const double due_s = static_cast<double>(sent) * static_cast<double>(load.connections) /
                       static_cast<double>(load.rate);
  std::this_thread::sleep_until(since +
                                std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                    std::chrono::duration<double>(due_s)));
}

// One connection and the lines that wait for it.
class Sender {
 public:
  Sender(const Load& load, int to) : load_(load), to_(to) {}

  void put(std::uint64_t series, std::int64_t step, std::string_view time, std::string_view tags) {
    step += load_.begin / load_.step;
    const std::uint64_t value =
        load_.random ? random_value_of(series, step) : value_of(series, step);
    if (load_.remote_write) {
      put_series(series, static_cast<double>(value), time, tags);
    } else {
      text_ += "put ";
      text_ += kMetrics[series % kMetricCount];
      text_ += time;
      text_ += fmt::format_int(value).c_str();
      text_ += ' ';
      text_ += tags;
    }
    ++waiting_;
  }

  // Sends what waits if it is much.
  bool send_some() {
    if (load_.remote_write ? waiting_ < kPointsARequest : text_.size() < kSendBytes) return true;
    if (!send()) return false;
    keep_rate(load_, sent_, since_);
    return true;
  }

  bool finish() { return send() && (!load_.sync || is_synced(to_)) && end_well(to_); }
  [[nodiscard]] std::uint64_t sent() const { return sent_; }

 private:
  void put_series(std::uint64_t series, double value, std::string_view time,
                  std::string_view labels) {
    static const std::array<std::string, kMetricCount> kNames = name_labels();
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    sample_ = "\x09";
    sample_.append(bytes, sizeof bytes);
    sample_ += time;
    series_ = kNames[series % kMetricCount];
    series_ += labels;
    append_field(series_, 2, sample_);
    append_field(text_, 1, series_);
  }

  bool send() {
    if (waiting_ == 0) return true;
    if (!(load_.remote_write ? post_series(to_, text_) : send_all(to_, text_))) return false;
    text_.clear();
    sent_ += waiting_;
    waiting_ = 0;
    return true;
  }

  const Load& load_;
  const int to_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::string text_;
  std::string series_, sample_;  // of put_series()
  std::uint64_t waiting_ = 0, sent_ = 0;
};

// Calls visit(series, tags) for each series of a host until one returns false.
template <typename Visit>
bool each_series(const Load& load, std::uint64_t host, const std::string& tags, Visit visit) {
  for (std::size_t metric = 0; metric < kMetricCount; ++metric) {
    const std::uint64_t series = host * kMetricCount + metric;
    if (series >= load.series) break;
    if (!visit(series, tags)) return false;
  }
  return true;
}

bool send_points(const Load& load, const std::vector<std::uint64_t>& hosts, Sender& sender) {
  std::vector<std::string> tags;
  for (const std::uint64_t host : hosts) tags.push_back(tags_of(load, load.first_host + host));
  if (load.series_after_series) {
    std::vector<std::string> times;
    for (std::int64_t step = 0; step < load.steps; ++step) times.push_back(time_of(load, step));
    const auto all_steps = [&](std::uint64_t series, const std::string& its_tags) {
      for (std::int64_t step = 0; step < load.steps; ++step) {
        sender.put(series, step, times[static_cast<std::size_t>(step)], its_tags);
        if (!sender.send_some()) return false;
      }
      return true;
    };
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      if (!each_series(load, hosts[i], tags[i], all_steps)) return false;
    }
    return true;
  }
  for (std::int64_t step = 0; step < load.steps; ++step) {
    const std::string time = time_of(load, step);
    const auto one_step = [&](std::uint64_t series, const std::string& its_tags) {
      sender.put(series, step, time, its_tags);
      return true;
    };
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      each_series(load, hosts[i], tags[i], one_step);
      if (!sender.send_some()) return false;
    }
  }
  return true;
}

// Points sent; 0: it failed.
std::uint64_t run(const Load& load, std::uint64_t connection) {
  const int to = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(load.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 0;
  std::vector<std::uint64_t> hosts;
  for (std::uint64_t host = connection; host * kMetricCount < load.series;
       host += load.connections) {
    hosts.push_back(host);
  }
  Sender sender(load, to);
  const bool good = send_points(load, hosts, sender) && sender.finish();
  ::close(to);
  return good ? sender.sent() : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    fmt::print(stderr,
               "point_load PORT SERIES BEGIN STEPS STEP CONNECTIONS [POINTS_A_SECOND "
               "[FIRST_HOST [series|random|sync|remote_write...]]]\n");
    return 2;
  }
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const bool in_ms = std::string_view(argv[5]).ends_with("ms");
  const auto has_word = [&](std::string_view word) {
    return std::any_of(argv + std::min(argc, 9), argv + argc,
                       [&](const char* one) { return one == word; });
  };
  const Load load{.port = static_cast<std::uint16_t>(number(1)),
                  .series = number(2),
                  .begin = static_cast<std::int64_t>(number(3)) * (in_ms ? 1000 : 1),
                  .steps = static_cast<std::int64_t>(number(4)),
                  .step = static_cast<std::int64_t>(number(5)),
                  .connections = number(6),
                  .rate = argc > 7 ? number(7) : 0,
                  .first_host = argc > 8 ? number(8) : 0,
                  .series_after_series = has_word("series"),
                  .sync = has_word("sync"),
                  .random = has_word("random"),
                  .remote_write = has_word("remote_write")};
  std::atomic<std::uint64_t> sent = 0;
  std::atomic<bool> good = true;
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < load.connections; ++i) {
    threads.emplace_back([&, i] {
      const std::uint64_t count = run(load, i);
      if (count == 0) good = false;
      sent += count;
    });
  }
  threads.clear();
  fmt::print("{}\n", sent.load());
  return good ? 0 : 1;
}
