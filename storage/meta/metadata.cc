#include "storage/meta/metadata.h"

#include <utility>

namespace halite::storage {

Task<std::unique_ptr<Metadata>> Metadata::open(Parts parts, MetadataOptions options) {
  OpentsdbOptions layout_options;
  layout_options.widths = parts.widths;
  CO_TRY(std::unique_ptr<OpentsdbLayout> layout, OpentsdbLayout::make(layout_options));
  Tables tables;
  CO_TRY(tables.annotations,
         co_await parts.store.open_table(annotation_table_spec(options.annotation_table)));
  CO_TRY(tables.names, co_await parts.store.open_table(uid_table_spec(options.uid_table)));
  CO_TRY(tables.series, co_await parts.store.open_table(meta_table_spec(options.meta_table)));
  co_return std::unique_ptr<Metadata>(
      new Metadata(parts, std::move(options), std::move(tables), std::move(layout)));
}

Metadata::Metadata(Parts parts, MetadataOptions options, Tables tables,
                   std::shared_ptr<const OpentsdbLayout> layout)
    : uids_(parts.uids),
      widths_(parts.widths),
      annotations_(std::move(tables.annotations), std::move(layout), options.annotations),
      uid_metas_(std::move(tables.names), parts.uids, parts.widths),
      ts_metas_(std::move(tables.series), uid_metas_, parts.widths) {}

}  // namespace halite::storage
