// Names the calling thread, as shown by `top -H`, perf and bench/.
#pragma once

#include <pthread.h>

namespace halite {

// At most 15 characters.
inline void name_this_thread(const char* name) { pthread_setname_np(pthread_self(), name); }

}  // namespace halite
