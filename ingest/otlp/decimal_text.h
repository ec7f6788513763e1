// Doubles as Prometheus writes them in labels: the fewest digits that read back as an equal double,
// then zeros, and never an exponent. Private to ingest/otlp.
#pragma once

#include <string>

namespace halite::ingest {

// 1e23 is "100000000000000000000000". The value is finite.
void append_decimal(std::string& to, double value);

}  // namespace halite::ingest
