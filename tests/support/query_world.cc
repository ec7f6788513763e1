#include "tests/support/query_world.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "common/check.h"
#include "query/parse/question_parse.h"
#include "storage/cells/layouts/cyclic_layout.h"
#include "storage/cells/layouts/opentsdb_layout.h"
#include "tests/support/run_task.h"

namespace halite::test {
namespace {

using LayoutAndParameters =
    std::pair<std::shared_ptr<const storage::RowLayout>, storage::TableParameters>;

LayoutAndParameters make_layout(QueryLayout layout) {
  if (layout == QueryLayout::kCyclic) {
    storage::CyclicOptions options;
    options.salt_buckets = 4;
    std::shared_ptr<const storage::CyclicLayout> made =
        storage::CyclicLayout::make(options).value();
    return {made, made->parameters()};
  }
  storage::OpentsdbOptions options;
  options.salt_width = layout == QueryLayout::kOpentsdbSalted ? 1 : 0;
  std::shared_ptr<const storage::OpentsdbLayout> made =
      storage::OpentsdbLayout::make(options).value();
  return {made, made->parameters()};
}

SeriesName parse_series(std::string_view text) {
  std::istringstream words{std::string(text)};
  SeriesName name;
  words >> name.metric;
  for (std::string tag; words >> tag;) {
    const std::size_t equals = tag.find('=');
    HALITE_CHECK(equals != std::string::npos, "a test's series has a tag without =");
    name.tags.push_back({tag.substr(0, equals), tag.substr(equals + 1)});
  }
  std::ranges::sort(name.tags);
  return name;
}

}  // namespace

QueryWorld::QueryWorld(QueryLayout layout, query::QueryLimits limits, bool skip_unknown_values) {
  LayoutAndParameters made = make_layout(layout);
  storage::CellPointStore::Dependencies dependencies{
      cells_, std::move(made.first), std::move(made.second),
      clock_, pool_.get_executor(),  metrics_};
  auto opened = run_task(storage::CellPointStore::open(std::move(dependencies), {}));
  HALITE_CHECK(opened, opened.error().message);
  points_ = std::move(*opened);
  engine_ = std::make_unique<query::QueryEngine>(
      *points_, clock_, limits, skip_unknown_values,
      query::QueryExecutors{.large = pool_.get_executor(), .small = pool_.get_executor()},
      metrics_);
}

QueryWorld::~QueryWorld() {
  const Result<void> closed = run_task(points_->close());
  HALITE_CHECK(closed, closed.error().message);
  pool_.join();
}

query::ParseContext QueryWorld::context() const {
  query::ParseContext context;
  context.now = clock_.now_ms();
  context.sub_queries_max = engine_->limits().sub_queries_max;
  return context;
}

void QueryWorld::put(std::string_view series, TimestampMs time, ValueBits value, bool is_float) {
  if (series != last_series_) {
    std::vector<SeriesName> names{parse_series(series)};
    const auto ids = run_task(points_->intern(std::move(names), {}));
    HALITE_CHECK(ids && ids->front(), "the store takes a test's series");
    last_id_ = *ids->front();
    last_series_ = series;
  }
  const auto flags =
      static_cast<std::uint8_t>((is_float ? kFloat : 0) | (time % 1000 != 0 ? kMillis : 0));
  batch_.add(last_id_, time, value, flags);
}

void QueryWorld::flush() {
  if (batch_.size() == 0) return;
  const auto accepted = run_task(points_->append(std::exchange(batch_, {})));
  HALITE_CHECK(accepted, accepted.error().message);
  HALITE_CHECK(accepted->refused.empty(), accepted->refused.front().error.message);
  const Result<void> durable = run_task(accepted->durable.wait());
  HALITE_CHECK(durable, durable.error().message);
}

Result<query::Answer> QueryWorld::ask_uri(const query::Parameters& parameters) {
  TRY(query::Question question, query::parse_question_uri(parameters, context()));
  return ask(std::move(question));
}

Result<query::Answer> QueryWorld::ask_json(std::string_view body,
                                           const query::Parameters& parameters) {
  TRY(query::Question question, query::parse_question_json(body, parameters, context()));
  return ask(std::move(question));
}

Result<query::Answer> QueryWorld::ask(query::Question question, std::stop_token stop) {
  flush();
  TRY(const std::shared_ptr<const query::Answer> answer,
      run_task(engine_->run(std::move(question), std::move(stop))));
  return *answer;
}

Result<std::shared_ptr<const query::PromqlAnswer>> QueryWorld::ask_promql(
    query::PromqlQuestion question) {
  flush();
  return run_task(engine_->run_promql(std::move(question), {}));
}

}  // namespace halite::test
