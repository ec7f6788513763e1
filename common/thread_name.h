// A name for a thread, as `top -H`, perf and bench/ show it.
#pragma once

#include <pthread.h>

namespace halite {

// At most 15 characters.
inline void name_this_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

}  // namespace halite
