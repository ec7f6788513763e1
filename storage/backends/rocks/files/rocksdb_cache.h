// rocksdb::Cache, which RocksDB 8 moved to a header of its own.
#pragma once

#if __has_include(<rocksdb/advanced_cache.h>)
#include <rocksdb/advanced_cache.h>  // IWYU pragma: export
#else
#include <rocksdb/cache.h>  // IWYU pragma: export
#endif
