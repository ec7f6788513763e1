// Region servers that do as they are told: a small HBase in this process, over real sockets.
//
//   FakeHBase hbase(2);                            // two servers; the first is also the registry
//   hbase.add_table("t", {"m"});
//   hbase.script([](const FakeCall& call) -> FakeReaction {
//     if (call.method == "Mutate" && call.number == 1) return {.what = FakeReaction::kSwallow};
//     return {};
//   });
//   options.registry = {hbase.endpoint(0)};
//
// They speak the protocol's frames, are the master of tables (the first one), serve hbase:meta from
// the list of regions, do Get, Mutate, Multi and Scan (of filters, those of rows:
// fake_scan_filter.h) on rows in memory, and say what files regions have and compact them. Every
// call is first shown to the script.
//
//   Threads  one of its own; any call from any thread. The script runs on that thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "storage/backends/hbase/rpc/options.h"
#include "tests/support/fake_hbase_data.h"

namespace halite::test {

struct FakeCall {
  std::size_t server = 0;
  std::string method;       // "Get", "Multi", "GetMetaRegionLocations", ...
  std::string table;        // of its (first) region; "hbase:meta" for look-ups
  Bytes row;                // the first one it names
  std::size_t actions = 1;  // of a Multi
  std::size_t number = 0;   // of calls of this method so far, this one too
  std::uint32_t timeout_ms = 0;
};

struct FakeReaction {
  enum What : std::uint8_t {
    kAnswer,         // as a healthy server does
    kThrow,          // the exception below, nothing done
    kThrowInside,    // of a Multi: for its first region; the others are done
    kThrowOnAction,  // of a Multi: for its first action
    kSwallow,        // done, but never answered
    kIgnore,         // neither done nor answered
    kCloseBefore,    // the connection, nothing done
    kCloseAfter,     // done, then the connection
    kSayNothing,     // a counter is counted, but what it holds now is not in the answer
    kRefuse,         // a bulk load: nothing is done, and the answer says so
    kRefuseStaged,   // the same, and the files stay in the staging directory
  };
  What what = kAnswer;
  std::string exception = {};  // without org.apache.hadoop.hbase.
  std::string text = "told to";
  bool do_not_retry = false;
  std::uint32_t delay_ms = 0;  // before the answer; the work is done at once
};

class FakeHBase {
 public:
  using Script = std::function<FakeReaction(const FakeCall&)>;

  explicit FakeHBase(std::size_t servers = 1);
  ~FakeHBase();
  FakeHBase(const FakeHBase&) = delete;
  FakeHBase& operator=(const FakeHBase&) = delete;

  [[nodiscard]] storage::hbase::Endpoint endpoint(std::size_t server) const;

  void add_table(const std::string& table, const std::vector<Bytes>& split_keys = {});
  void drop_table(const std::string& table);
  void set_disabled(const std::string& table, bool disabled);
  // The region of that row; `told`: hbase:meta says so at once.
  void move_region(const std::string& table, const Bytes& row, std::size_t server,
                   bool told = true);
  // As a server does that opens a region which another has closed in order: it does not know what
  // was added there. One that opens a dead server's region knows it from the log.
  void forget_nonces();
  // No server has it, hbase:meta says so.
  void hide_region(const std::string& table, const Bytes& row);
  // hbase:meta catches up with all moves.
  void tell_moves();
  void split_region(const std::string& table, const Bytes& key);
  // What its server says of the region of that row.
  void set_files(const std::string& table, const Bytes& row, std::uint32_t files);
  [[nodiscard]] std::uint32_t files(const std::string& table, const Bytes& row) const;

  void script(Script script);
  // No byte is read any more from connections of this server, or again.
  void set_deaf(std::size_t server, bool deaf);
  // Closes every connection of this server; with `refuse`, new ones too, until it is false again.
  void cut(std::size_t server, bool refuse = false);
  // Where it makes staging directories of bulk loads: fake_bulk_loads.h.
  void set_staging(const std::string& dir);
  void set_rows_per_answer(std::size_t rows);    // of a scan
  void set_cells_per_answer(std::size_t cells);  // then a row is cut
  // Every so many answers to scans bring nothing but that there is more; 0 = none does.
  void set_heartbeat_every(std::size_t answers);

  [[nodiscard]] std::size_t calls(const std::string& method) const;  // seen so far, by all servers
  [[nodiscard]] std::size_t connections() const;                     // ever made
  [[nodiscard]] std::size_t bytes_read(std::size_t server) const;    // of requests
  // Of a table that was made through the master; empty = it has none.
  [[nodiscard]] std::string attribute(const std::string& table, const std::string& family,
                                      const std::string& name) const;
  // "family:qualifier=value", by commas.
  [[nodiscard]] std::string row_text(const std::string& table, const Bytes& row) const;
  [[nodiscard]] std::size_t row_count(const std::string& table) const;

 private:
  class World;
  const std::shared_ptr<World> world_;
};

}  // namespace halite::test
