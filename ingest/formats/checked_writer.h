// A writer that knows what its parser would read. Private to ingest/formats.
//
// It writes each series once to the parser first. So it refuses names that would come back as other
// ones, whatever the format's reasons are.
#pragma once

#include <memory>

#include "ingest/formats/point_format.h"

namespace halite::ingest {

// Makes writers of one format; called again when a series was refused.
using MakeWriter = std::unique_ptr<PointWriter> (*)(Format format, const FormatOptions& options);

[[nodiscard]] std::unique_ptr<PointWriter> make_checked_writer(Format format,
                                                               const FormatOptions& options,
                                                               MakeWriter make);

}  // namespace halite::ingest
