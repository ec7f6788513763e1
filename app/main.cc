// halite: one binary with a subcommand for each task.
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/backup_commands.h"
#include "app/bulk_commands.h"
#include "app/command_line.h"
#include "app/compare/compare.h"
#include "app/server/metrics_reference.h"
#include "app/server/serve.h"
#include "app/settings/options.h"
#include "app/settings/settings_reference.h"
#include "app/tools/auth_tool.h"
#include "app/tools/check_tool.h"
#include "app/tools/hbase_plan.h"
#include "app/tools/hbase_tool.h"
#include "app/tools/ready_tool.h"
#include "app/tools/tool_exit.h"
#include "app/tools/views_tool.h"
#include "app/version.h"

namespace {

using halite::Config;
using halite::Errc;
using halite::Result;
using halite::app::declare_offline;
using halite::app::declare_plan;
using halite::app::declare_serve;
using halite::app::declare_settings_flags;
using halite::app::kUsage;
using halite::app::Options;
using halite::app::print_err;
using halite::app::print_out;
using halite::app::read_offline;
using halite::app::read_settings;
using halite::app::ServeFlags;
using halite::app::settings_file;

// Prints the text of a tool, or why there is none.
int printed(const Result<std::string>& text) {
  if (!text) {
    print_err(text.error().message);
    return kUsage;
  }
  fmt::print("{}", *text);
  return EXIT_SUCCESS;
}

// A tool that returns a text.
using Tool = Result<std::string> (*)(const Options&);

int run_hbase_tool(const CLI::App& app, const ServeFlags& flags, Tool tool) {
  Options options;
  Config config;
  declare_settings(config, options);
  Result<void> known = config.apply_flag("halite hbase", "store", "hbase");
  if (known) known = read_settings(app, flags, config, options);
  if (known) known = halite::app::resolve_options(options);
  if (!known) {
    print_err(known.error().message);
    return kUsage;
  }
  options.hbase.store.tables.lower_ttl = flags.lower_ttl;
  const Result<std::string> told = tool(options);
  if (!told) {
    print_err(told.error().message);
    return EXIT_FAILURE;
  }
  fmt::print("{}", *told);
  return EXIT_SUCCESS;
}

void declare_check(CLI::App& check, ServeFlags& flags, halite::app::CheckFlags& checking) {
  declare_offline(check, flags);
  check.add_flag("--json", checking.json, "Print one JSON object instead of lines");
  check.footer("Exit status: 0 no damage, 1 damage found, 2 the check failed.");
}

int run_check(const CLI::App& check, const ServeFlags& flags, halite::app::CheckFlags checking) {
  Options options;
  if (!read_offline(check, flags, options)) return kUsage;
  checking.progress = true;
  return static_cast<int>(halite::app::check_data_dir(options, checking, print_out, print_err));
}

int run_repair(const CLI::App& repair, const ServeFlags& flags) {
  Options options;
  if (!read_offline(repair, flags, options)) return kUsage;
  return static_cast<int>(halite::app::repair_data_dir(options, print_out, print_err));
}

int run_serve(const CLI::App& serve, const ServeFlags& flags) {
  halite::app::SettingsFile file{.path = settings_file(flags), .stamp = {}, .read = {}};
  file.stamp = halite::FileStamp::of(file.path);
  Options options;
  Config config;
  declare_settings(config, options);
  Result<void> known = read_settings(serve, flags, config, options);
  if (known) known = halite::app::resolve_options(options);
  if (!known) {
    print_err(known.error().message);
    return kUsage;
  }
  if (!flags.print_config.empty()) {
    const bool markdown = flags.print_config == "markdown";
    const auto print = [&] {
      return printed(markdown ? halite::app::settings_markdown(config) : config.print());
    };
    return halite::app::exit_status(print, print_err);
  }
  file.read = [&serve, &flags]() -> Result<Options> {
    Options fresh;
    Config declared;
    declare_settings(declared, fresh);
    TRY_VOID(read_settings(serve, flags, declared, fresh));
    TRY_VOID(halite::app::resolve_options(fresh));
    return fresh;
  };
  const Result<void> served = halite::app::serve(options, config, std::move(file));
  if (!served) {
    print_err(served.error().message);
    const Errc code = served.error().code;
    // A restart with the same settings and the same directory fails again.
    return code == Errc::kInvalidArgument || code == Errc::kUnsupported ? kUsage : EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}

void declare_compare(CLI::App& compare, halite::app::CompareOptions& options) {
  compare.add_option("--opentsdb", options.opentsdb, "OpenTSDB server, http[s]://HOST:PORT")
      ->required();
  compare.add_option("--halite", options.halite, "Halite server, http[s]://HOST:PORT")->required();
  compare.add_option("--token-file", options.files.token,
                     "File with a token that has the role read on the Halite server");
  declare_ca_file(compare, options.files);
  compare
      .add_option(
          "--queries", options.queries,
          "File with one query per line, as a URI or a JSON body, or an access log; - reads "
          "standard input")
      ->required();
  compare
      .add_option("--tolerance", options.rules.tolerance,
                  "Relative difference at which two values still match (default: 1e-9)")
      ->check(halite::app::number_between(0, 1));
  compare.add_option(
      "--show", options.rules.shown_max,
      "Maximum series per query and points per series to print; 0 = all (default: 10)");
  compare.add_option("--max", options.queries_max, "Maximum queries to send; 0 = all (default: 0)");
  compare.add_option(
      "--lag-ms", options.lag_ms,
      "Distance of \"now\" before the current time, because points still arrive (default: 60000)");
  compare.add_option("--timeout-ms", options.http.timeout_ms,
                     "Timeout of one answer (default: 60000)");
  compare.footer("Exit status: 0 all answers match, 1 some differ, 2 nothing was compared.");
}

int run_compare(const halite::app::CompareOptions& options) {
  return static_cast<int>(
      halite::app::compare(options, halite::SystemClock(), print_out, print_err));
}

void declare_account(CLI::App& app, halite::app::NewAccount& account) {
  app.add_option("name", account.name, "Name, as shown in the log")->required();
  app.add_option("--roles", account.roles, "Roles: a comma-separated list of read, write and admin")
      ->required();
}

void declare_ready(CLI::App& ready, halite::app::ReadyFlags& flags) {
  ready.add_option("--url", flags.url, "URL of the server (default: http://127.0.0.1:4242)");
  ready.add_option("--timeout-ms", flags.timeout_ms, "Timeout of the answer (default: 5000)");
  declare_ca_file(ready, flags.files);
  ready.footer("Exit status: 0 ready, 1 not ready or no answer, 2 wrong options.");
}

void declare_views(CLI::App& views, halite::app::ViewsFlags& flags) {
  views.add_option("--url", flags.url, "URL of the server (default: http://127.0.0.1:4242)");
  views.add_option("--token-file", flags.files.token,
                   "File with a token that has the role read, or admin for rebuild");
  declare_ca_file(views, flags.files);
}

int run_ready(const halite::app::ReadyFlags& flags) {
  const Result<std::string> ready = halite::app::ask_ready(flags);
  if (!ready) {
    print_err(ready.error().message);
    return ready.error().code == Errc::kInvalidArgument ? kUsage : EXIT_FAILURE;
  }
  print_out(*ready);
  return EXIT_SUCCESS;
}

// The first word if it is an unknown subcommand; empty if CLI11 reports the error.
std::string unknown_subcommand(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0') return {};
  const std::string word = argv[1];
  std::vector<std::string> known;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (each->get_name() == word) return {};
    known.push_back(each->get_name());
  }
  return fmt::format("unknown subcommand \"{}\"; the subcommands are: {} (see halite --help)", word,
                     fmt::join(known, ", "));
}

int run(int argc, char** argv) {
  CLI::App app("Halite, a time-series database that is compatible with OpenTSDB.", "halite");
  app.set_version_flag("--version", halite::app::version_line());
  app.require_subcommand(1);
  ServeFlags flags;
  CLI::App* const serve = app.add_subcommand("serve", "Run the server");
  declare_serve(*serve, flags);
  halite::app::CheckFlags checking;
  CLI::App* const check = app.add_subcommand("check", "Read all stored data and report damage");
  declare_check(*check, flags, checking);
  CLI::App* const repair =
      app.add_subcommand("repair", "Set aside damaged data that prevents the server from starting");
  declare_offline(*repair, flags);
  repair->footer(
      "Exit status: 0 no damage, 1 damage was repaired as reported, 2 an error ended the repair; "
      "only the reported changes were made.");
  halite::app::BackupCommands backups(app, flags);
  halite::app::CompareOptions comparing;
  halite::app::BulkCommands bulk(app, flags);
  CLI::App* const compare = app.add_subcommand(
      "compare", "Send the same queries to OpenTSDB and Halite and report differences");
  declare_compare(*compare, comparing);
  halite::app::ReadyFlags asking;
  CLI::App* const ready =
      app.add_subcommand("ready", "Ask a server whether it takes points and queries");
  declare_ready(*ready, asking);
  CLI::App* const metrics =
      app.add_subcommand("metrics", "Print the metrics reference as Markdown and exit");
  CLI::App* const auth = app.add_subcommand("auth", "Create entries for the users-and-tokens file");
  auth->require_subcommand(1);
  halite::app::NewAccount account;
  CLI::App* const user =
      auth->add_subcommand("user", "Create a user entry; prompts for the password");
  declare_account(*user, account);
  CLI::App* const token = auth->add_subcommand(
      "token", "Create a token entry; the line with # is the token to give to the agent");
  declare_account(*token, account);
  CLI::App* const views = app.add_subcommand("views", "Show and rebuild the views of a server");
  views->require_subcommand(1);
  halite::app::ViewsFlags viewing;
  CLI::App* const list = views->add_subcommand("list", "Show how much of each view is computed");
  declare_views(*list, viewing);
  CLI::App* const rebuild =
      views->add_subcommand("rebuild", "Compute a view anew; queries read points meanwhile");
  declare_views(*rebuild, viewing);
  rebuild->add_option("view", viewing.view, "Name of the view")->required();
  CLI::App* const hbase = app.add_subcommand("hbase", "Manage Halite's tables in HBase");
  hbase->require_subcommand(1);
  CLI::App* const create = hbase->add_subcommand(
      "create-tables", "Create the tables, split for the region servers that are online");
  declare_settings_flags(*create, flags);
  create->add_flag(
      "--lower-ttl", flags.lower_ttl,
      "Also lower longer TTLs of existing tables to the configured TTL; HBase then deletes older "
      "data for all users of the tables");
  CLI::App* const regions =
      hbase->add_subcommand("regions", "Show the regions of the table of points");
  declare_settings_flags(*regions, flags);
  halite::app::HBasePlanFlags planning;
  CLI::App* const plan = hbase->add_subcommand(
      "plan", "Compute the size of a cluster for a load, from measured costs; needs no HBase");
  declare_plan(*plan, planning);
  halite::app::refuse_empty_values(app);
  if (const std::string unknown = unknown_subcommand(app, argc, argv); !unknown.empty()) {
    print_err(unknown);
    return kUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? EXIT_SUCCESS : kUsage;
  }
  if (const std::optional<int> status = backups.run()) return *status;
  if (const std::optional<int> status = bulk.run()) return *status;
  const auto run_tool = [&]() -> int {
    if (check->parsed()) return run_check(*check, flags, checking);
    if (repair->parsed()) return run_repair(*repair, flags);
    if (compare->parsed()) return run_compare(comparing);
    if (ready->parsed()) return run_ready(asking);
    if (metrics->parsed()) return printed(halite::app::metrics_markdown());
    if (list->parsed()) return printed(halite::app::list_views(viewing));
    if (rebuild->parsed()) return printed(halite::app::rebuild_view(viewing));
    if (create->parsed()) {
      return run_hbase_tool(*create, flags, halite::app::create_hbase_tables);
    }
    if (regions->parsed()) {
      return run_hbase_tool(*regions, flags, halite::app::show_hbase_regions);
    }
    if (plan->parsed()) return printed(halite::app::show_hbase_plan(planning));
    return user->parsed() ? printed(halite::app::new_user(account))
                          : printed(halite::app::new_token(account));
  };
  for (const CLI::App* tool : {check, repair, compare, ready, metrics, list, rebuild, user, token,
                               create, regions, plan}) {
    if (tool->parsed()) return halite::app::exit_status(run_tool, print_err);
  }
  return run_serve(*serve, flags);
}

// Whether all that was printed has arrived, which a full disk shows only now.
bool written_out() {
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::ferror(stdout) == 0) return true;
  print_err(fmt::format("cannot write the output: {}",
                        flushed ? "a write failed" : std::generic_category().message(errno)));
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  // In the tarball the loader starts it, whose name the process would have.
  pthread_setname_np(pthread_self(), "halite");
  try {
    const int status = run(argc, argv);
    return written_out() ? status : kUsage;
  } catch (const std::exception& error) {
    print_err(error.what());
    return EXIT_FAILURE;
  }
}
