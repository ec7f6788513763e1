// From what the store did with a body's points to what their sender is told. Private to ingest/.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/task.h"
#include "ingest/writer.h"
#include "ingest/writer_context.h"

namespace halite::ingest {

// A body's elements by origin, null as an empty text, and how an answer shows one.
struct SentElements {
  std::vector<std::string_view> texts;
  std::function<std::string(std::string_view)> echo;
};

// Waits until what was taken is durable, for as long as the wish says. Every element was taken,
// refused or not taken. The core and what the elements point into live until then.
Task<PutOutcome> put_outcome(WriterContext& context, CommitResult committed, SentElements elements,
                             PutOptions put_options);

}  // namespace halite::ingest
