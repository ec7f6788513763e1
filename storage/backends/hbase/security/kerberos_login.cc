#include "storage/backends/hbase/security/kerberos_login.h"

#include <algorithm>
#include <utility>

#include "common/log.h"
#include "common/threads/thread_name.h"
#include "storage/backends/hbase/security/gss_context.h"

namespace halite::storage::hbase {
namespace {

constexpr const char* kEnded = "the HBase client is closed";

std::string realm_of(const std::string& principal) {
  return principal.substr(principal.rfind('@') + 1);
}

}  // namespace

KerberosLogin::KerberosLogin(KerberosOptions options)
    : options_(std::move(options)),
      renew_(Clock::time_point::max()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

KerberosLogin::~KerberosLogin() {
  thread_.request_stop();
  thread_.join();
  for (const Job& job : jobs_) job.beginning->done.finish(fail(Errc::kUnavailable, kEnded));
}

std::shared_ptr<Beginning> KerberosLogin::begin(std::string host) {
  auto beginning = std::make_shared<Beginning>();
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({std::move(host), beginning});
  }
  woken_.notify_one();
  return beginning;
}

void KerberosLogin::run(const std::stop_token& stop) {
  name_this_thread("kerberos");
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto wanted = [this] { return !jobs_.empty(); };
    // A time_point::max() would overflow in the wait.
    const Clock::time_point until = std::min(renew_, Clock::now() + std::chrono::hours(1));
    woken_.wait_until(lock, stop, until, wanted);
    if (stop.stop_requested()) return;
    std::optional<Job> job;
    if (!jobs_.empty()) {
      job = std::move(jobs_.front());
      jobs_.pop_front();
    }
    lock.unlock();
    if (Clock::now() >= renew_) renew();
    if (job) serve(*std::move(job));
    lock.lock();
  }
}

void KerberosLogin::serve(Job job) {
  if (job.beginning->done.finished()) return;  // given up while it waited
  Result<CredentialsPtr> with = credentials();
  if (!with) return job.beginning->done.finish(std::unexpected(with.error()));
  const std::string server =
      server_principal(options_.server_principal, job.host, realm_of((*with)->principal()));
  Result<BegunContext> begun = begin_gss_context(*std::move(with), server);
  if (!begun) return job.beginning->done.finish(std::unexpected(begun.error()));
  job.beginning->context = std::move(begun->context);
  job.beginning->token = std::move(begun->token);
  job.beginning->done.finish({});
}

Result<KerberosLogin::CredentialsPtr> KerberosLogin::credentials() {
  const Clock::time_point now = Clock::now();
  if (current_ != nullptr && now < ends_) return current_;
  if (failure_ && now < retry_) return std::unexpected(*failure_);
  return log_in();
}

Result<KerberosLogin::CredentialsPtr> KerberosLogin::log_in() {
  Result<CredentialsPtr> made = KerberosCredentials::make(options_);
  const Clock::time_point now = Clock::now();
  if (!made) {
    if (!failure_ || failure_->message != made.error().message) {
      log::warn("{}", made.error().message);
    }
    failure_ = made.error();
    retry_ = now + kFailurePause;
    return made;
  }
  failure_.reset();
  pause_ = std::chrono::seconds(0);
  if (options_.keytab.empty()) return made;  // the cache is read again each time
  current_ = *made;
  ends_ = now + current_->life();
  renew_ = now + std::max<Clock::duration>(
                     kFailurePause,
                     std::chrono::duration_cast<Clock::duration>(current_->life() * kRenewAt));
  log::info("Kerberos: {} has a ticket for {} s", current_->principal(), current_->life().count());
  return made;
}

void KerberosLogin::renew() {
  if (log_in()) return;
  pause_ = std::clamp(pause_ * 2, kFailurePause, kFailurePauseMax);
  renew_ = Clock::now() + pause_;
}

}  // namespace halite::storage::hbase
