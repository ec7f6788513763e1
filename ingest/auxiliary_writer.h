// From bodies and lines to what is stored beside points: rollups and histograms. Private to
// ingest/.
//
// A AuxiliaryBatch is one body or some lines: it parses them one by one, and writes what was good
// once the names have ids. AuxiliaryWriter does what all kinds have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/task.h"
#include "ingest/refusal.h"
#include "ingest/writer.h"
#include "ingest/writer_context.h"
#include "storage/api/point_store.h"

namespace halite::ingest {

class AuxiliaryBatch {
 public:
  virtual ~AuxiliaryBatch() = default;

  // An element of a body, or a line. Ends in one of named() and refuse(). An error is the whole
  // body's.
  virtual Result<void> add_element(std::string_view element, std::uint32_t origin) = 0;
  virtual void add_line(std::string_view line, std::uint32_t origin) = 0;

  // The element again, as an answer shows it.
  [[nodiscard]] virtual std::string echo(std::string_view element) const = 0;

  // Writes all that is named, durably; nothing where there is no id. Returns what the store
  // refused, by position among the named. An error: each may be stored or not.
  virtual Task<std::vector<storage::Refusal>> write(
      std::vector<std::optional<storage::SeriesId>> ids) = 0;

  // What telnet is told of a name that may not be made.
  [[nodiscard]] virtual Refused on_telnet(Refused why) const { return why; }

  std::vector<SeriesName> names;       // of each named one, until they are interned
  std::vector<std::uint32_t> origins;  // of each named one
  std::vector<BatchRefusal> refused;   // a text that is empty: nobody is told

 protected:
  void named(SeriesName name, std::uint32_t origin) {
    names.push_back(std::move(name));
    origins.push_back(origin);
  }
  void refuse(Refused why, std::uint32_t origin) {
    refused.push_back({.origin = origin, .why = std::move(why)});
  }
};

class AuxiliaryWriter {
 public:
  explicit AuxiliaryWriter(WriterContext& context) : context_(context) {}

  // As Writer::put_json(); it waits for the disk as long as it takes.
  Task<PutOutcome> put_json(std::unique_ptr<AuxiliaryBatch> round, std::string body,
                            PutOptions put_options);

  // Appends a reply to each line that is refused, in the order of lines. An error: what was not
  // refused is not stored, or may not be; a reply line says which, too.
  Task<void> put_lines(std::unique_ptr<AuxiliaryBatch> round, std::vector<std::string> lines,
                       std::string_view command, std::string* replies);

 private:
  // What is refused stays with the round. Never fails.
  Task<CommitResult> store(AuxiliaryBatch* round, Protocol protocol);

  WriterContext& context_;
};

}  // namespace halite::ingest
