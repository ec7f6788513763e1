#include "web/process_pages.h"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "common/json_string.h"

namespace halite::web {
namespace {

// A line of /proc/<..>/stat, after the name in parentheses.
struct ProcStat {
  std::string name;
  std::vector<std::string> fields;  // from the state on: field 3 of proc(5) is fields[0]
};

std::optional<ProcStat> read_stat(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return std::nullopt;
  ProcStat stat{.name = line.substr(open + 1, close - open - 1), .fields = {}};
  std::istringstream rest(line.substr(close + 1));
  for (std::string field; rest >> field;) stat.fields.push_back(field);
  if (stat.fields.size() < 22) return std::nullopt;
  return stat;
}

std::int64_t number(const std::string& text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Milliseconds since the process started.
std::int64_t uptime_ms(const std::optional<ProcStat>& self) {
  double up_s = 0;
  std::ifstream in("/proc/uptime");
  if (!self || !(in >> up_s)) return 0;
  const double began_s =
      static_cast<double>(number(self->fields[19])) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::int64_t>((up_s - began_s) * 1000);
}

// Java's name for a thread's state.
std::string_view java_state(std::string_view state) {
  if (state == "R") return "RUNNABLE";
  if (state == "D") return "BLOCKED";
  if (state == "Z" || state == "X") return "TERMINATED";
  return "WAITING";
}

}  // namespace

std::string jvm_json(const VersionInfo& version, TimestampMs now) {
  const std::optional<ProcStat> self = read_stat("/proc/self/stat");
  const std::int64_t up = uptime_ms(self);
  const std::int64_t page = ::sysconf(_SC_PAGESIZE);
  const std::int64_t used = self ? number(self->fields[21]) * page : 0;
  const std::int64_t most = ::sysconf(_SC_PHYS_PAGES) * page;
  double load = 0;
  ::getloadavg(&load, 1);
  std::string version_text;
  append_json_string(version_text, version.version);
  return fmt::format(
      "{{\"runtime\":{{\"startTime\":{},\"uptime\":{},\"vmName\":\"none (native)\",\"vmVendor\":"
      "\"Halite\",\"vmVersion\":{}}},\"memory\":{{\"heapMemoryUsage\":{{\"init\":0,\"used\":{},"
      "\"committed\":{},\"max\":{}}},\"nonHeapMemoryUsage\":{{\"init\":0,\"used\":0,\"committed\":"
      "0,\"max\":-1}},\"objectsPendingFinalization\":0}},\"gc\":{{}},\"pools\":{{}},\"os\":{{"
      "\"systemLoadAverage\":{}}}}}",
      now - up, up, version_text, used, used, most, load);
}

std::string threads_json() {
  std::string json = "[";
  std::error_code error;  // a thread may end meanwhile
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    const std::optional<ProcStat> stat = read_stat(task.path() / "stat");
    if (!stat) continue;
    if (json.size() > 1) json += ',';
    json += fmt::format("{{\"threadID\":{},\"name\":", number(task.path().filename().string()));
    append_json_string(json, stat->name);
    json += fmt::format(",\"state\":\"{}\",\"interrupted\":false,\"priority\":{},\"stack\":[]}}",
                        java_state(stat->fields[0]), number(stat->fields[15]));
  }
  return json + ']';
}

}  // namespace halite::web
