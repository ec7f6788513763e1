// The server on a disk that forgets: a `halite serve` for tests/crash whose files keep in memory
// what was not synced. Killed by -9 it leaves what was synced, by SIGUSR1 a part of the rest, too.
// `import` is `halite import` on the same disk; its checkpoint and its file of refused lines are on
// the real one, which forgets nothing.
//
//   CRASH_DISK    forgets (default), real, or lies: it ignores some syncs, which has to show
//   CRASH_LIES_AT    those of paths with this in them (the log)
//   CRASH_SEED    of what the disk keeps of the unsynced
//   CRASH_AFTER   the power fails at this change of the disk; 0 = not by itself
//   CRASH_AT      only changes of paths with this in them count
//   CRASH_SYNC_FAILS  the chance of each sync to fail, and to lose what it was to write
//   CRASH_CLOCK   SPEED:SINCE: from SINCE (ms since 1970) on, time goes SPEED times as fast
//
// Settings come from the environment (HALITE_*) and --data-dir, --listen, --store.
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/server/serve.h"
#include "app/settings/options.h"
#include "app/tools/import_tool.h"
#include "tests/support/faulty_files.h"
#include "tests/support/real_disk.h"

namespace {

using halite::Config;
using halite::Result;
using halite::TimestampMs;
using halite::app::ImportFlags;
using halite::app::Options;
using halite::test::FaultyFiles;

constexpr int kCut = 137;  // the exit code: as if killed by -9

std::string variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? otherwise : value;
}

class FastClock final : public halite::Clock {
 public:
  FastClock(std::int64_t speed, TimestampMs since) : speed_(speed), since_(since) {}
  [[nodiscard]] TimestampMs now_ms() const override {
    return since_ + (real_.now_ms() - since_) * speed_;
  }

 private:
  const halite::SystemClock real_;
  const std::int64_t speed_;
  const TimestampMs since_;
};

// Blocks until SIGUSR1 comes; every thread made later leaves that signal to this one, which blocks
// all others: a SIGTERM that came to it would end the process.
void wait_for_cut(const std::shared_ptr<FaultyFiles>& files) {
  sigset_t cut;
  sigset_t all;
  sigset_t before;
  ::sigemptyset(&cut);
  ::sigaddset(&cut, SIGUSR1);
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([files, cut] {
    int signal = 0;
    ::sigwait(&cut, &signal);
    files->cut_power_for_good([] { ::_exit(kCut); });
  }).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &cut, nullptr);
}

std::shared_ptr<FaultyFiles> forgetful_files(const std::string& dir, bool lies) {
  const auto seed = std::stoul(variable("CRASH_SEED", "1"));
  const auto after = std::stoull(variable("CRASH_AFTER", "0"));
  auto files = std::make_shared<FaultyFiles>(static_cast<std::uint32_t>(seed));
  files->keep_on(std::make_shared<halite::test::RealDisk>(dir));
  if (lies) files->ignore_syncs(variable("CRASH_LIES_AT", "engine/log"));
  files->on_cut([](const std::string& path) {
    fmt::print(stderr, "the power fails at {}\n", path);
    ::_exit(kCut);
  });
  if (after > 0) files->cut_power_after(after - 1, variable("CRASH_AT", ""));
  files->fail_syncs_by_chance(std::stod(variable("CRASH_SYNC_FAILS", "0")));
  wait_for_cut(files);
  return files;
}

Result<void> prepare(Options& options) {
  TRY_VOID(halite::app::resolve_options(options));
  const std::string disk = variable("CRASH_DISK", "forgets");
  if (disk != "real") options.environment.files = forgetful_files(options.data_dir, disk == "lies");
  const std::string clock = variable("CRASH_CLOCK", "1:0");
  const std::size_t colon = clock.find(':');
  options.environment.clock = std::make_shared<FastClock>(std::stoll(clock.substr(0, colon)),  //
                                                          std::stoll(clock.substr(colon + 1)));
  // A day by default: longer than the rings here.
  options.layout.cleaning_ms = 2 * options.layout.span_ms;
  return {};
}

Result<void> serve(Options& options, Config& config) {
  TRY_VOID(prepare(options));
  return halite::app::serve(options, config, {});
}

void print_line(std::string_view line) { fmt::print("{}\n", line); }
void print_error(std::string_view line) { fmt::print(stderr, "halite_crash: {}\n", line); }

void declare_import(CLI::App& import, Options& options, ImportFlags& flags) {
  import.add_option("--data-dir", options.data_dir)->required();
  import.add_option("--format", flags.format);
  import.add_option("--errors", flags.errors);
  import.add_option("--checkpoint", flags.checkpoint);
  import.add_option("--checkpoint-interval", flags.checkpoint_interval_s);
  import.add_option("--jobs", flags.jobs);
  import.add_option("--rate", flags.points_per_s_max);
  import.add_flag("--resume", flags.resume);
  import.add_flag("--quiet", flags.quiet);
  import.add_option("files", flags.files)->required();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    Config config;
    ImportFlags importing;
    declare_settings(config, options);
    if (const Result<void> known = config.apply_environment(environ); !known) {
      print_error(known.error().message);
      return EXIT_FAILURE;
    }
    CLI::App app("The server on a disk that forgets.", "halite_crash");
    CLI::App* const server = app.add_subcommand("serve");
    server->add_option("--data-dir", options.data_dir)->required();
    server->add_option("--listen", options.listen)->required();
    std::string store;
    server->add_option("--store", store)->required();
    CLI::App* const import = app.add_subcommand("import");
    declare_import(*import, options, importing);
    app.require_subcommand(1);
    CLI11_PARSE(app, argc, argv);
    Result<void> done =
        import->parsed() ? prepare(options) : config.apply_flag("--store", "store", store);
    if (done && import->parsed()) {
      return static_cast<int>(import_files(options, importing, print_line, print_error));
    }
    if (done) done = serve(options, config);
    if (!done) print_error(done.error().message);
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    fmt::print(stderr, "halite_crash: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
