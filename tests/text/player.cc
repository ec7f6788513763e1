#include "tests/text/player.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <regex>
#include <thread>

#include <fmt/format.h>
#include <snappy.h>
#include <zlib.h>

#include "common/check.h"
#include "tests/support/proto_text.h"
#include "web/http/content_coding.h"

namespace halite::test {

namespace {

constexpr int kAnswerMs = 5'000;  // an answer that takes longer does not come
constexpr int kQuietMs = 150;     // for rewriting: an answer is over when nothing comes so long

bool is_body(StepKind kind) {
  return kind == StepKind::kSendRaw || kind == StepKind::kSendGzip ||
         kind == StepKind::kSendProto || kind == StepKind::kSendSnappy;
}

bool is_send(StepKind kind) {
  return kind == StepKind::kSend || kind == StepKind::kSendChunk || is_body(kind);
}

bool is_expectation(StepKind kind) {
  return kind == StepKind::kExpect || kind == StepKind::kExpectRaw ||
         kind == StepKind::kExpectLike || kind == StepKind::kExpectGzip ||
         kind == StepKind::kExpectChunks;
}

std::string gzip(const std::string& text) {
  web::Deflater deflater(web::Coding::kGzip, 6);
  std::string packed;
  deflater.add(text, packed);
  deflater.finish(packed);
  return packed;
}

std::string snappy_block(const std::string& text) {
  std::string packed;
  snappy::Compress(text.data(), text.size(), &packed);
  return packed;
}

std::string wire_bytes(const Step& step, const std::string& eol) {
  switch (step.kind) {
    case StepKind::kSend:
      return step.text + eol;
    case StepKind::kSendGzip:
      return gzip(step.text);
    case StepKind::kSendProto:
      return proto_bytes(step.text);
    case StepKind::kSendSnappy:
      return snappy_block(proto_bytes(step.text));
    case StepKind::kSendChunk:
      return step.text.empty() ? "0\r\n\r\n"
                               : fmt::format("{:x}\r\n{}\r\n", step.text.size(), step.text);
    default:
      return step.text;
  }
}

int number_of(const Step& step) { return std::atoi(step.text.c_str()); }

// A gzip stream at the beginning of `bytes`: its text and its length, or nothing when it is not
// whole yet.
std::optional<std::pair<std::string, std::size_t>> gunzip_prefix(const std::string& bytes) {
  z_stream stream{};
  HALITE_CHECK(inflateInit2(&stream, 15 + 16) == Z_OK, "zlib");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text(1 << 20, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  const int state = inflate(&stream, Z_FINISH);
  text.resize(text.size() - stream.avail_out);
  const std::size_t used = bytes.size() - stream.avail_in;
  inflateEnd(&stream);
  if (state != Z_STREAM_END) return std::nullopt;
  return std::pair(text, used);
}

// A chunked body at the beginning of `bytes`, likewise.
std::optional<std::pair<std::string, std::size_t>> unchunk_prefix(const std::string& bytes) {
  std::string text;
  std::size_t at = 0;
  while (true) {
    const std::size_t end = bytes.find("\r\n", at);
    if (end == std::string::npos) return std::nullopt;
    const std::size_t size = std::strtoul(bytes.c_str() + at, nullptr, 16);
    if (end + 2 + size + 2 > bytes.size()) return std::nullopt;
    text += bytes.substr(end + 2, size);
    at = end + 2 + size + 2;
    if (size == 0) return std::pair(text, at);
  }
}

}  // namespace

Player::Player(const Conversation& conversation, bool update)
    : conversation_(conversation),
      update_(update),
      eol_(conversation.http ? "\r\n" : "\n"),
      server_(conversation.options) {}

std::string Player::wrong(const Step& step, const std::string& what) {
  return fmt::format("{}:{}: {}", conversation_.path, step.number, what);
}

std::string Player::play() {
  client_.emplace(server_.port());
  const std::vector<Step>& steps = conversation_.steps;
  for (std::size_t i = 0; i < steps.size();) {
    if (is_expectation(steps[i].kind)) {
      std::vector<const Step*> group;
      while (i < steps.size() && is_expectation(steps[i].kind)) group.push_back(&steps[i++]);
      if (std::string fault = check_group(group); !fault.empty()) return fault;
      continue;
    }
    rewritten_ += steps[i].line + "\n";
    if (is_send(steps[i].kind)) {
      if (!have_.empty()) return wrong(steps[i], "before this came: " + escape(have_));
      queue_send(i);
    } else if (std::string fault = act(steps[i]); !fault.empty()) {
      return fault;
    }
    ++i;
    const bool more_sends = i < steps.size() && is_send(steps[i].kind);
    if (more_sends || to_send_.empty()) continue;
    if (std::string fault = flush_sends(); !fault.empty()) return fault;
    const bool expects = i < steps.size() && is_expectation(steps[i].kind);
    if (update_ && !expects) rewrite_group({}, receive_until_quiet());
  }
  client_->half_close();
  have_ += client_->receive_all(kAnswerMs);
  if (!have_.empty()) return wrong(steps.back(), "after the end came: " + escape(have_));
  return {};
}

void Player::queue_send(std::size_t index) {
  const Step& step = conversation_.steps[index];
  if (step.kind == StepKind::kSend && step.text == "Content-Length: *") {
    to_send_ += fmt::format("Content-Length: {}{}", body_bytes_after(index), eol_);
  } else {
    to_send_ += wire_bytes(step, eol_);
  }
}

std::size_t Player::body_bytes_after(std::size_t index) const {
  for (std::size_t i = index; i < conversation_.steps.size(); ++i) {
    const Step& step = conversation_.steps[i];
    if (is_body(step.kind)) return wire_bytes(step, eol_).size();
  }
  return 0;
}

std::string Player::flush_sends() {
  std::string_view rest = to_send_;
  while (!rest.empty()) {
    const std::size_t step = split_ == 0 ? rest.size() : std::min(split_, rest.size());
    // The server may have closed already; what it said is compared all the same.
    if (!client_->send(rest.substr(0, step))) break;
    rest.remove_prefix(step);
    if (split_ != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  to_send_.clear();
  return {};
}

std::string Player::act(const Step& step) {
  switch (step.kind) {
    case StepKind::kSplit:
      split_ = static_cast<std::size_t>(number_of(step));
      return {};
    case StepKind::kPause:
      std::this_thread::sleep_for(std::chrono::milliseconds(number_of(step)));
      return {};
    case StepKind::kClock:
      server_.clock().set(std::atoll(step.text.c_str()));
      return {};
    case StepKind::kConnect:
      if (!have_.empty()) return wrong(step, "before this came: " + escape(have_));
      client_.reset();
      client_.emplace(server_.port());
      return {};
    case StepKind::kHalfClose:
      client_->half_close();
      if (update_) rewrite_group({}, receive_until_quiet());
      return {};
    case StepKind::kClosed:
      have_ += client_->receive_all(kAnswerMs);
      if (!have_.empty()) return wrong(step, "before the end came: " + escape(have_));
      if (client_->receive(0) == std::nullopt) return wrong(step, "the connection is still open");
      return {};
    case StepKind::kSilence:
      if (read_more(number_of(step))) return wrong(step, "this came: " + escape(have_));
      return {};
    default:
      return {};
  }
}

bool Player::read_more(int timeout_ms) {
  const std::optional<std::string> more = client_->receive(timeout_ms);
  if (!more || more->empty()) return false;
  have_ += *more;
  return true;
}

std::string Player::receive_until_quiet() {
  while (read_more(kQuietMs)) {
  }
  return std::exchange(have_, {});
}

std::string Player::check_group(const std::vector<const Step*>& group) {
  if (update_) {
    rewrite_group(group, receive_until_quiet());
    return {};
  }
  for (const Step* step : group) {
    if (std::string fault = expect(*step); !fault.empty()) return fault;
  }
  return {};
}

void Player::rewrite_group(const std::vector<const Step*>& group, const std::string& data) {
  // What the file says already is kept where it holds.
  have_ = data;
  std::string kept;
  bool holds = true;
  for (const Step* step : group) {
    const std::string before = have_;
    holds = holds && expect(*step).empty();
    if (!holds) {
      have_ = before;
      break;
    }
    kept += step->line + "\n";
  }
  rewritten_ += kept;
  std::string rest = std::exchange(have_, {});
  std::size_t body = 0;  // bytes of it that follow these headers
  while (!rest.empty()) {
    if (const auto packed = gunzip_prefix(rest)) {
      rewritten_ += "gunzip<< " + escape(packed->first) + "\n";
      rest.erase(0, packed->second);
      continue;
    }
    const std::size_t end = rest.find(eol_);
    if (end == std::string::npos) {
      rewritten_ += "<< " + escape(rest) + "\n";
      return;
    }
    const std::string line = rest.substr(0, end);
    rewritten_ += line.empty() ? "<\n" : "< " + escape(line) + "\n";
    rest.erase(0, end + eol_.size());
    if (line.starts_with("Content-Length: ")) body = std::stoul(line.substr(16));
    if (line.empty() && body != 0 && !rest.empty() && !gunzip_prefix(rest)) {
      rewritten_ += "<< " + escape(rest.substr(0, body)) + "\n";
      rest.erase(0, std::exchange(body, 0));
    }
  }
}

std::string Player::expect(const Step& step) {
  switch (step.kind) {
    case StepKind::kExpect:
      return expect_exactly(step, step.text + eol_);
    case StepKind::kExpectRaw:
      return expect_exactly(step, step.text);
    case StepKind::kExpectLike:
      return expect_like(step);
    case StepKind::kExpectGzip:
      return expect_gzip(step);
    default:
      return expect_chunks(step);
  }
}

std::string Player::expect_exactly(const Step& step, const std::string& wanted) {
  while (have_.size() < wanted.size() && wanted.starts_with(have_) && !update_) {
    if (!read_more(kAnswerMs)) break;
  }
  if (!have_.starts_with(wanted)) {
    return wrong(step,
                 fmt::format("\n  expected: {}\n  came:     {}", escape(wanted), escape(have_)));
  }
  have_.erase(0, wanted.size());
  return {};
}

std::string Player::expect_like(const Step& step) {
  std::size_t end = have_.find(eol_);
  while (end == std::string::npos && !update_ && read_more(kAnswerMs)) end = have_.find(eol_);
  const std::string line = have_.substr(0, end);
  if (end == std::string::npos || !std::regex_match(line, std::regex(step.text))) {
    return wrong(
        step, fmt::format("\n  expected like: {}\n  came:          {}", step.text, escape(have_)));
  }
  have_.erase(0, end + eol_.size());
  return {};
}

std::string Player::expect_gzip(const Step& step) {
  auto found = gunzip_prefix(have_);
  while (!found && !update_ && read_more(kAnswerMs)) found = gunzip_prefix(have_);
  if (!found || found->first != step.text) {
    return wrong(step, fmt::format("\n  expected gzipped: {}\n  came:             {}",
                                   escape(step.text), escape(found ? found->first : have_)));
  }
  have_.erase(0, found->second);
  return {};
}

std::string Player::expect_chunks(const Step& step) {
  auto found = unchunk_prefix(have_);
  while (!found && !update_ && read_more(kAnswerMs)) found = unchunk_prefix(have_);
  if (!found || found->first != step.text) {
    return wrong(step, fmt::format("\n  expected in chunks: {}\n  came:               {}",
                                   escape(step.text), escape(found ? found->first : have_)));
  }
  have_.erase(0, found->second);
  return {};
}

}  // namespace halite::test
