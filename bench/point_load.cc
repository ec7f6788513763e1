// Sends points by telnet as fast as a server takes them: what scripts load servers with, since a
// million series are too many for Python.
//
//   point_load PORT SERIES BEGIN STEPS STEP CONNECTIONS [POINTS_A_SECOND [FIRST_HOST]]
//
// Series i is metric i % 10 of host FIRST_HOST + i / 10, as in TSBS's cpu-only case; each gets a
// point a step, at BEGIN (seconds), BEGIN + STEP... STEP is in seconds, or in milliseconds as
// "20ms". A connection has every CONNECTIONS-th host. Its last line is taken when the server has
// closed: then points sent are points taken in.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace {

constexpr std::string_view kMetrics[] = {
    "cpu.usage_user",   "cpu.usage_system",    "cpu.usage_idle",    "cpu.usage_nice",
    "cpu.usage_iowait", "cpu.usage_irq",       "cpu.usage_softirq", "cpu.usage_steal",
    "cpu.usage_guest",  "cpu.usage_guest_nice"};
constexpr std::size_t kMetricCount = std::size(kMetrics);
constexpr std::size_t kSendBytes = 256 << 10;

struct Load {
  std::uint16_t port = 0;
  std::uint64_t series = 0;
  std::int64_t begin = 0;  // s or ms, as `step` is; the server tells them apart
  std::int64_t steps = 0;
  std::int64_t step = 0;
  std::uint64_t connections = 1;
  std::uint64_t rate = 0;  // points a second, all connections; 0 = as fast as can be
  std::uint64_t first_host = 0;
};

std::string tags_of(std::uint64_t host) {
  return fmt::format(
      "hostname=host_{0} region=region-{1} datacenter=region-{1}{2} rack={3} os=Debian{4} "
      "arch={5} team={6} service={7}\n",
      host, host % 9, "abc"[host % 3], host % 100, 11 + host % 3, host % 2 == 0 ? "amd64" : "arm64",
      host % 5, host % 20);
}

// The same in bench/scale_bench.py.
std::uint64_t value_of(std::uint64_t series, std::int64_t step) {
  return (series * 37 + static_cast<std::uint64_t>(step) * (1 + series % 7)) % 100;
}

bool send_all(int to, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(to, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(sent));
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

// Points sent; 0: it failed.
std::uint64_t run(const Load& load, std::uint64_t connection) {
  const int to = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(load.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return 0;
  std::vector<std::uint64_t> hosts;
  std::vector<std::string> tags;
  for (std::uint64_t host = connection; host * kMetricCount < load.series;
       host += load.connections) {
    hosts.push_back(host);
    tags.push_back(tags_of(load.first_host + host));
  }
  std::string text;
  std::uint64_t sent = 0;
  const auto since = std::chrono::steady_clock::now();
  for (std::int64_t step = 0; step < load.steps; ++step) {
    const std::string time = fmt::format(" {} ", load.begin + step * load.step);
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      for (std::size_t metric = 0; metric < kMetricCount; ++metric) {
        const std::uint64_t series = hosts[i] * kMetricCount + metric;
        if (series >= load.series) break;
        text += "put ";
        text += kMetrics[metric];
        text += time;
        text += fmt::format_int(value_of(series, (load.begin / load.step) + step)).c_str();
        text += ' ';
        text += tags[i];
        ++sent;
      }
      if (text.size() < kSendBytes) continue;
      if (!send_all(to, text)) return 0;
      text.clear();
      keep_rate(load, sent, since);
    }
  }
  const bool good = send_all(to, text) && end_well(to);
  ::close(to);
  return good ? sent : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    fmt::print(stderr,
               "point_load PORT SERIES BEGIN STEPS STEP CONNECTIONS [POINTS_A_SECOND "
               "[FIRST_HOST]]\n");
    return 2;
  }
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  const bool in_ms = std::string_view(argv[5]).ends_with("ms");
  const Load load{.port = static_cast<std::uint16_t>(number(1)),
                  .series = number(2),
                  .begin = static_cast<std::int64_t>(number(3)) * (in_ms ? 1000 : 1),
                  .steps = static_cast<std::int64_t>(number(4)),
                  .step = static_cast<std::int64_t>(number(5)),
                  .connections = number(6),
                  .rate = argc > 7 ? number(7) : 0,
                  .first_host = argc > 8 ? number(8) : 0};
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
