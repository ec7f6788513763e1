// Logs in to Kerberos, renews the ticket, and gets tickets for servers.
//
//   Threads  One of its own asks the KDC, one request after the other, so that a slow KDC stops no
//            event loop. Call begin() from any thread.
//   Renewal  From a keytab, when kRenewAt of a ticket's life is over; without one, the cache is
//   read
//            for each connection. A failed renewal is logged and tried again; the old ticket is
//            used until it ends. Connections outlive their ticket.
//   Errors   After a failed login, others within kFailurePause get the same error.
//   End      The destructor waits for a running request to the KDC: the library gives up by itself,
//            after some 10 seconds for each KDC that does not answer.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "storage/backends/hbase/security/authenticator.h"
#include "storage/backends/hbase/security/kerberos_credentials.h"

namespace halite::storage::hbase {

class KerberosLogin final : public Authenticator {
 public:
  static constexpr double kRenewAt = 0.75;
  static constexpr std::chrono::seconds kFailurePause{1};      // doubles for renewals,
  static constexpr std::chrono::seconds kFailurePauseMax{60};  // up to this

  explicit KerberosLogin(KerberosOptions options);
  ~KerberosLogin() override;

  std::shared_ptr<Beginning> begin(std::string host) override;

 private:
  using Clock = std::chrono::steady_clock;
  using CredentialsPtr = std::shared_ptr<const KerberosCredentials>;
  struct Job {
    std::string host;
    std::shared_ptr<Beginning> beginning;
  };

  void run(const std::stop_token& stop);
  void serve(Job job);
  Result<CredentialsPtr> credentials();
  Result<CredentialsPtr> log_in();
  void renew();

  const KerberosOptions options_;

  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::deque<Job> jobs_;  // guarded by mutex_

  // Only on the thread.
  CredentialsPtr current_;         // null before the first login
  Clock::time_point ends_;         // of current_
  Clock::time_point renew_;        // when to renew it; max = never
  std::optional<Error> failure_;   // of the last login
  Clock::time_point retry_;        // no login before it
  std::chrono::seconds pause_{0};  // after the last failed renewal

  std::jthread thread_;  // last: ends before what it uses
};

}  // namespace halite::storage::hbase
