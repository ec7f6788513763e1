#include "ingest/import/import_batch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ingest/telnet/line_round.h"
#include "ingest/writer_impl.h"

namespace halite::ingest {
namespace {

constexpr std::size_t kNoLimit = SIZE_MAX;  // the reader of the file has limited lines and blocks
constexpr std::size_t kLineBytesExpected = 64;
constexpr std::string_view kPut = "put ";

bool is_skipped(std::string_view line) {
  line = without_return(line);
  return line.empty() || line.front() == '#';
}

}  // namespace

struct ImportBatch::Impl {
  void add_line(std::string_view line);

  WriterContext& context;
  bool with_command = false;  // lines begin with "put"
  std::optional<LineRound> round = {};
};

ImportBatch::ImportBatch(Writer& writer)
    : impl_(std::make_unique<Impl>(Impl{.context = writer.impl_->context})) {}

ImportBatch::~ImportBatch() = default;
ImportBatch::ImportBatch(ImportBatch&&) noexcept = default;
ImportBatch& ImportBatch::operator=(ImportBatch&&) noexcept = default;

std::uint32_t ImportBatch::add(std::string_view text) {
  Impl& impl = *impl_;
  impl.with_command = text.starts_with(kPut);
  LineRound& round = impl.round.emplace(impl.context, impl.with_command ? kPutCommand : "",
                                        text.size() / kLineBytesExpected);
  while (!text.empty()) {
    text.remove_prefix(round.add_fast_path(text, kNoLimit, kNoLimit).bytes);
    if (text.empty()) break;
    const std::size_t end = std::min(text.find('\n'), text.size());
    impl.add_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  round.resolve();
  return round.lines();
}

void ImportBatch::Impl::add_line(std::string_view line) {
  if (is_skipped(line)) return round->skip();
  // Files that mix both forms are rare: these lines take the general parser.
  if (line.starts_with(kPut) == with_command) return round->add(line);
  round->add_completely(line, with_command ? "" : kPutCommand);
}

Task<Imported> ImportBatch::commit() {
  Impl& impl = *impl_;
  Imported imported;
  if (!impl.round) co_return imported;
  std::vector<BatchRefusal> refused = impl.round->take_refused();
  IngestBatch ingest_batch = impl.round->take_batch();
  impl.round.reset();
  CO_TRY(CommitResult committed,
         co_await impl.context.commit(std::move(ingest_batch), Protocol::kTelnet));
  if (committed.failed) co_return std::unexpected(*std::move(committed.failed));
  std::ranges::move(committed.refused, std::back_inserter(refused));
  std::ranges::sort(refused, {}, &BatchRefusal::origin);
  imported.points = committed.taken;
  for (BatchRefusal& refusal : refused) {
    imported.refused.push_back({.line = refusal.origin,
                                .reason = std::move(refusal.why.text),
                                .passes = refusal.why.passes});
  }
  co_return imported;
}

}  // namespace halite::ingest
