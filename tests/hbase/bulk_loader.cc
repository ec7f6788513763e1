// Loads points into HBase as files, for tests and measurements beside OpenTSDB:
//
//   bulk_loader QUORUM TABLE_PREFIX URL [SETTING=VALUE...] < LINES
//
// Lines are those of OpenTSDB's `tsdb import`: metric, time, value, tags. Among the settings,
// fill_gaps=true is its own, and batch=N, the points of one load. At the end it prints
// "points rows files bytes seconds cpu_seconds".
#include <sys/resource.h>

#include <charconv>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <prometheus/registry.h>

#include "app/server/wait_for.h"
#include "app/settings/options.h"
#include "app/stores/stores.h"
#include "common/clock.h"
#include "common/config/config.h"

namespace halite {
namespace {

constexpr std::size_t kLineBytesMax = 1 << 16;

struct Line {
  std::string_view series;  // metric and tags, with a mark between them
  TimestampMs time = 0;
  ValueBits value = 0;
  std::uint8_t flags = 0;
};

std::string_view take_word(std::string_view& rest) {
  const std::size_t end = std::min(rest.find(' '), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

template <class Number>
bool parse(std::string_view text, Number& to) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
  return error == std::errc() && end == text.data() + text.size();
}

// `name` holds the name of the series.
Result<Line> read_line(std::string_view text, std::string& name) {
  const std::string_view whole = text;
  Line line;
  name = take_word(text);
  const std::string_view time = take_word(text);
  const std::string_view value = take_word(text);
  name += ' ';
  name += text;
  line.series = name;
  std::int64_t integer = 0;
  double number = 0;
  if (!parse(time, line.time)) return fail(Errc::kInvalidArgument, fmt::format("{}", whole));
  if (line.time < 1LL << 33) {
    line.time *= 1000;
  } else {
    line.flags = kMillis;
  }
  if (parse(value, integer)) {
    line.value = integer_bits(integer);
  } else if (parse(value, number)) {
    line.value = double_bits(number);
    line.flags |= kFloat;
  } else {
    return fail(Errc::kInvalidArgument, fmt::format("{}", whole));
  }
  return line;
}

SeriesName name_from(std::string_view text) {
  SeriesName name;
  name.metric = take_word(text);
  while (!text.empty()) {
    const std::string_view pair = take_word(text);
    const std::size_t equals = pair.find('=');
    name.tags.push_back(
        {std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1))});
  }
  std::ranges::sort(name.tags);
  return name;
}

double cpu_seconds() {
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Totals {
  storage::LoadedPoints sum;

  Result<void> load(storage::PointLoader& loader, storage::PointBatch& batch,
                    const boost::asio::any_io_executor& executor) {
    auto loading = loader.load(std::exchange(batch, {}));
    TRY(const storage::LoadedPoints loaded, app::wait_for(executor, std::move(loading)));
    sum.points += loaded.points;
    sum.rows += loaded.rows;
    sum.files += loaded.files;
    sum.bytes += loaded.bytes;
    return {};
  }
};

Result<void> run(const std::vector<std::string>& arguments) {
  app::Options options;
  Config config;
  app::declare_settings(config, options);
  options.store = app::StoreKind::kHBase;
  app::PointLoad how{.url = arguments.at(2)};
  std::size_t batch_points = 5'000'000;
  TRY_VOID(config.apply_flag("QUORUM", "hbase.quorum", arguments.at(0)));
  TRY_VOID(config.apply_flag("TABLE_PREFIX", "hbase.table_prefix", arguments.at(1)));
  for (std::size_t i = 3; i < arguments.size(); ++i) {
    const std::size_t equals = arguments[i].find('=');
    const std::string name = arguments[i].substr(0, equals);
    const std::string value = arguments[i].substr(equals + 1);
    if (name == "fill_gaps") {
      how.fill_gaps = value == "true";
    } else if (name == "batch") {
      batch_points = std::stoul(value);
    } else {
      TRY_VOID(config.apply_flag(arguments[i], name, value));
    }
  }
  TRY_VOID(app::resolve_options(options));
  const auto begun = std::chrono::steady_clock::now();
  const SystemClock clock;
  prometheus::Registry registry;
  boost::asio::thread_pool pool(2);
  TRY(const auto stores, app::open_stores(options, clock, pool.get_executor(), registry));
  TRY(const auto loader, stores->make_point_loader(how));
  std::unordered_map<std::string, storage::SeriesId> known;
  storage::PointBatch batch;
  Totals totals;
  std::string name;
  std::vector<char> buffer(kLineBytesMax);
  while (std::fgets(buffer.data(), static_cast<int>(buffer.size()), stdin) != nullptr) {
    std::string_view text(buffer.data());
    if (text.ends_with('\n')) text.remove_suffix(1);
    TRY(const Line line, read_line(text, name));
    auto found = known.find(name);
    if (found == known.end()) {
      auto interning = stores->points().intern({name_from(name)}, storage::CreateNames());
      TRY(const auto ids, app::wait_for(pool.get_executor(), std::move(interning)));
      TRY(const storage::SeriesId id, ids.front());
      found = known.emplace(name, id).first;
    }
    batch.add(found->second, line.time, line.value, line.flags);
    if (batch.size() >= batch_points) TRY_VOID(totals.load(*loader, batch, pool.get_executor()));
  }
  TRY_VOID(totals.load(*loader, batch, pool.get_executor()));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  fmt::print("{} {} {} {} {:.3f} {:.3f}\n", totals.sum.points, totals.sum.rows, totals.sum.files,
             totals.sum.bytes, took.count(), cpu_seconds());
  return stores->close();
}

}  // namespace
}  // namespace halite

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) {
    fmt::print(stderr, "bulk_loader QUORUM TABLE_PREFIX URL [SETTING=VALUE...] < LINES\n");
    return 2;
  }
  const halite::Result<void> done = halite::run(arguments);
  if (done) return 0;
  fmt::print(stderr, "bulk_loader: {}\n", done.error().message);
  return 1;
}
