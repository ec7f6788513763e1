// Questions so small that to wake another thread would cost more than to answer them. They are
// tried where they are asked, from memory alone and within narrow limits. Those that want a disk
// are asked again within the same limits on threads for small ones, which large ones do not keep;
// what turns out to be more, on the query threads.
#pragma once

#include <memory>

#include "common/result.h"
#include "common/work_watch.h"
#include "query/limits.h"
#include "query/question.h"
#include "query/watch.h"

namespace halite::query {

// Does it look small: few series named by their tags or ids, over a short time?
[[nodiscard]] bool may_be_quick(const Question& question);

// For such a question: no more of anything than what takes a millisecond or two.
[[nodiscard]] QueryLimits quick_limits(const Question& question, QueryLimits limits);

// The watch for what reads: what is not in memory is kUnavailable.
[[nodiscard]] std::shared_ptr<WorkWatch> watch_memory_only(std::shared_ptr<Watch> watch);

// Is this how the question ends, tried with those limits from memory, or is it to be asked again?
[[nodiscard]] bool ends_here(const Error& error);

// Did it go beyond those limits?
[[nodiscard]] bool is_no_small_one(const Error& error);

}  // namespace halite::query
