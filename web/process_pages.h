// What the process says about itself where OpenTSDB shows its JVM: the same shapes, with what a
// program without one can fill in honestly.
#pragma once

#include <string>

#include "common/clock.h"
#include "web/server.h"

namespace halite::web {

// {"runtime":{..},"memory":{..},"gc":{},"pools":{},"os":{"systemLoadAverage":n}}: the heap is the
// resident memory; there is no collector.
[[nodiscard]] std::string jvm_json(const VersionInfo& version, TimestampMs now);

// [{"threadID","name","state","interrupted","priority","stack":[]},..]
[[nodiscard]] std::string threads_json();

}  // namespace halite::web
