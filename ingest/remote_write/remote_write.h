// Requests of remote_write, from decompressed bytes to durable points. ingest/bodies/body_writer.h
// says what of a body is stored, and when.
#pragma once

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "ingest/bodies/body_writer.h"
#include "ingest/remote_write/remote_write_body.h"
#include "ingest/writer.h"

namespace halite::ingest {

struct RemoteWriteOutcome {
  BodyOutcome put;
  RemoteWriteCounts seen;
};

// An error concerns the whole request, and nothing is stored: see RemoteWriteBody and BodyWriter.
// The writer outlives the task.
Task<RemoteWriteOutcome> put_remote_write(Writer& writer, RemoteWriteVersion version, Bytes bytes);

}  // namespace halite::ingest
