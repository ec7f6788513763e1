#include "query/expression/exp_order.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "query/expression/join.h"

namespace halite::query {
namespace {

using Uses = std::vector<std::vector<std::size_t>>;  // for each expression: those that it uses

// Whether `from` uses `to`, directly or indirectly.
bool reaches(const Uses& uses, std::size_t from, std::size_t to) {
  std::vector<bool> seen(uses.size());
  std::vector<std::size_t> waiting = {from};
  while (!waiting.empty()) {
    const std::size_t at = waiting.back();
    waiting.pop_back();
    if (at == to) return true;
    if (seen[at]) continue;
    seen[at] = true;
    waiting.insert(waiting.end(), uses[at].begin(), uses[at].end());
  }
  return false;
}

}  // namespace

Result<std::vector<std::size_t>> order_of(std::span<const ExpExpression> expressions) {
  std::map<std::string, std::size_t> index;
  std::vector<std::string> ids;
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    index.emplace(expressions[i].id, i);
    ids.push_back(expressions[i].id);
  }
  Uses uses(expressions.size());
  // OpenTSDB iterates over its map of expressions and names the one that closes the cycle.
  for (const std::string& id : java_hash_order(std::move(ids), expressions.size())) {
    const std::size_t at = index.at(id);
    for (const std::string& variable : expressions[at].expression.variables) {
      const auto used = index.find(variable);
      if (used == index.end()) continue;
      if (used->second == at) {
        return fail(Errc::kInvalidArgument,
                    fmt::format("Self referencing expression found: {}", id));
      }
      if (reaches(uses, used->second, at)) {
        return fail(Errc::kInvalidArgument, fmt::format("Circular reference found: {}", id));
      }
      uses[at].push_back(used->second);
    }
  }
  std::vector<std::size_t> order;
  std::vector<bool> done(expressions.size());
  while (order.size() < expressions.size()) {
    for (std::size_t i = 0; i < expressions.size(); ++i) {
      if (done[i]) continue;
      if (!std::ranges::all_of(uses[i], [&done](std::size_t used) { return done[used]; })) continue;
      done[i] = true;
      order.push_back(i);
    }
  }
  return order;
}

}  // namespace halite::query
