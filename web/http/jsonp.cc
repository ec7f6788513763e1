#include "web/http/jsonp.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace halite::web {

namespace {

constexpr std::size_t kNameBytesMax = 128;

bool legal(std::string_view name) {
  return name.size() <= kNameBytesMax && std::ranges::all_of(name, [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '$' || c == '.' || c == '[' || c == ']';
         });
}

class WrappedSource final : public BodySource {
 public:
  WrappedSource(std::string head, std::unique_ptr<BodySource> inner)
      : head_(std::move(head)), inner_(std::move(inner)) {}

  bool next(std::string& to) override {
    if (finished_) return false;
    to += std::exchange(head_, {});
    if (!inner_->next(to)) {
      to += ')';
      finished_ = true;
    }
    return true;
  }

 private:
  std::string head_;
  std::unique_ptr<BodySource> inner_;
  bool finished_ = false;
};

}  // namespace

Result<void> check_jsonp(const Target& target) {
  const std::string_view name = target.get("jsonp");
  if (legal(name)) return {};
  return fail(Errc::kInvalidArgument,
              "The parameter <code>jsonp</code> must be the name of a function");
}

void wrap_jsonp(const Target& target, Response& response) {
  const std::string_view name = target.get("jsonp");
  if (name.empty() || !legal(name) || response.content_type != kJsonType) return;
  std::string head = fmt::format("{}(", name);
  if (response.source) {
    response.source = std::make_unique<WrappedSource>(std::move(head), std::move(response.source));
  } else if (!response.body.empty()) {
    response.body = head + response.body + ")";
  }
}

}  // namespace halite::web
