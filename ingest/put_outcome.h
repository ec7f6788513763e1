// Turns the store's result for a body into the answer to the sender. Private to ingest/.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/threads/task.h"
#include "ingest/writer.h"
#include "ingest/writer_context.h"

namespace halite::ingest {

// The elements of a body by origin (null is empty), and their form in an answer.
struct SentElements {
  std::vector<std::string_view> texts;
  std::function<std::string(std::string_view)> echo;
};

// Waits until accepted points are durable, at most for the sender's sync timeout. Every element is
// accepted, refused or failed. `context` and the texts of the elements live until the task ends.
Task<PutOutcome> put_outcome(WriterContext& context, CommitResult committed, SentElements elements,
                             PutOptions put_options);

}  // namespace halite::ingest
