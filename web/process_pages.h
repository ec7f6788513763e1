// Process information in the format of OpenTSDB's JVM pages, with values that a native program has.
#pragma once

#include <string>

#include "common/clock.h"
#include "web/server.h"

namespace halite::web {

// {"runtime":{..},"memory":{..},"gc":{},"pools":{},"os":{"systemLoadAverage":n}}: the heap is the
// resident memory; there is no garbage collector.
[[nodiscard]] std::string jvm_json(const VersionInfo& version, TimestampMs now);

// [{"threadID","name","state","interrupted","priority","stack":[]},..]
[[nodiscard]] std::string threads_json();

}  // namespace halite::web
