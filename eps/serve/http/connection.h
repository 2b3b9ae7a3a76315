// A connection with a client, which may be slow, or worse, and never holds a thread for long.
#pragma once

#include <httplib.h>

#include <atomic>
#include <chrono>

#include "eps/serve/limits.h"

namespace eps::serve {

class Connection final : public httplib::Stream {
 public:
  // `is_stopping` ends every wait.
  Connection(int socket, const ServeLimits& limits, const std::atomic<bool>& is_stopping);

  enum class Head { complete, closed, late, too_long };
  // Reads the head of a request, to which read() then returns.
  Head read_head();
  std::string_view head() const { return std::string_view(buffer_).substr(0, head_); }

  // The client waits for leave to send the body, which the first read() of it gives.
  void expect_continue() { expects_continue_ = true; }
  bool is_late() const { return is_late_; }  // a wait was too long

  // Sends the text at once, as far as the client takes it.
  void send_now(std::string_view text) const;
  // Ends the answer, and takes what the client still sends, for a moment: a connection closed
  // before would take the answer away from a client that is not done.
  void finish() const;

  bool is_readable() const override;
  bool is_writable() const override;  // false: the client is gone
  ssize_t read(char* data, size_t size) override;
  ssize_t write(const char* data, size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_; }

 private:
  using Clock = std::chrono::steady_clock;
  // Waits until the socket is ready for the events or the time has come.
  bool wait(short events, Clock::time_point until) const;
  // A `Transfer` is what came or went up to now, and the time that it was waited for.
  struct Transfer {
    uint64_t bytes = 0;
    std::chrono::duration<double> waited{0};
  };
  // Waits within what is left of the patience for a transfer.
  bool wait_for(short events, Transfer& transfer);

  const int socket_;
  const ServeLimits& limits_;
  const std::atomic<bool>& is_stopping_;
  std::string buffer_;  // the head, and what came with it
  size_t head_ = 0, taken_ = 0;
  bool expects_continue_ = false, is_late_ = false;
  Transfer read_, written_;
};

}  // namespace eps::serve
