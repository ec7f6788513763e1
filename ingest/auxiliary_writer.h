// The parsing and writing of data beside points: rollups and histograms. Private to ingest/.
//
// An AuxiliaryBatch is one body or some lines. It parses each element and, once the names have ids,
// writes the valid ones. AuxiliaryWriter does what all kinds have in common.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/threads/task.h"
#include "ingest/rules/refusal.h"
#include "ingest/writer.h"
#include "ingest/writer_context.h"
#include "storage/api/point_store.h"

namespace halite::ingest {

class AuxiliaryBatch {
 public:
  virtual ~AuxiliaryBatch() = default;

  // Parses an element of a body, or a line, and calls named() or refuse(). An error fails the whole
  // body.
  virtual Result<void> add_element(std::string_view element, std::uint32_t origin) = 0;
  virtual void add_line(std::string_view line, std::uint32_t origin) = 0;

  // The element as an answer shows it.
  [[nodiscard]] virtual std::string echo(std::string_view element) const = 0;

  // Writes all named elements that have an id, durably. Returns the store's refusals, by position
  // among the named elements. After an error, each may be stored or not.
  virtual Task<std::vector<storage::Refusal>> write(
      std::vector<std::optional<storage::SeriesId>> ids) = 0;

  // The telnet reply for a name that must not be created.
  [[nodiscard]] virtual Refused on_telnet(Refused why) const { return why; }

  std::vector<SeriesName> names;       // of each named element, until interned
  std::vector<std::uint32_t> origins;  // of each named element
  std::vector<BatchRefusal> refused;   // an empty text sends no reply

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

  // Like Writer::put_json(), but waits for the disk without a time limit.
  Task<PutOutcome> put_json(std::unique_ptr<AuxiliaryBatch> round, std::string body,
                            PutOptions put_options);

  // Appends a reply for each refused line, in line order. After an error, a further reply says
  // whether the remaining lines are not stored or may not be.
  Task<void> put_lines(std::unique_ptr<AuxiliaryBatch> round, std::vector<std::string> lines,
                       std::string_view command, std::string* replies);

 private:
  // Refusals stay in the batch. Never fails.
  Task<CommitResult> store(AuxiliaryBatch* round, Protocol protocol);

  WriterContext& context_;
};

}  // namespace halite::ingest
