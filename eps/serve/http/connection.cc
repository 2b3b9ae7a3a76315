// A connection with a client.
#include "eps/serve/http/connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "eps/serve/request_head.h"

namespace eps::serve {
namespace {

constexpr std::chrono::milliseconds kSlice(200);  // after which a stop is noticed

void split_address(const sockaddr_storage& address, std::string& ip, int& port) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text.data(), text.size());
    port = ntohs(v4.sin_port);
  } else if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text.data(), text.size());
    port = ntohs(v6.sin6_port);
  }
  ip = text.data();
}

}  // namespace

Connection::Connection(int socket, const ServeLimits& limits, const std::atomic<bool>& is_stopping)
    : socket_(socket), limits_(limits), is_stopping_(is_stopping) {}

bool Connection::wait(short events, Clock::time_point until) const {
  while (!is_stopping_) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
    if (left.count() < 0) return false;
    pollfd one{.fd = socket_, .events = events, .revents = 0};
    const int ready = ::poll(&one, 1, static_cast<int>(std::min(left, kSlice).count()) + 1);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) return false;
  }
  return false;
}

bool Connection::wait_for(short events, Transfer& transfer) {
  const auto start = Clock::now();
  const std::chrono::duration<double> patience =
      limits_.stalled_time +
      std::chrono::duration<double>(static_cast<double>(transfer.bytes) / limits_.least_rate) -
      transfer.waited;
  const auto most = std::min<std::chrono::duration<double>>(patience, limits_.stalled_time);
  const bool ready = wait(events, start + std::chrono::duration_cast<Clock::duration>(most));
  transfer.waited += Clock::now() - start;
  is_late_ = is_late_ || !ready;
  return ready;
}

Connection::Head Connection::read_head() {
  const auto until = Clock::now() + limits_.head_time;
  std::array<char, 4096> part{};
  for (;;) {
    if (!wait(POLLIN, until)) return Head::late;
    const ssize_t count = ::recv(socket_, part.data(), part.size(), 0);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return Head::closed;
    const size_t from = buffer_.size() < 3 ? 0 : buffer_.size() - 3;
    buffer_.append(part.data(), static_cast<size_t>(count));
    const size_t end = buffer_.find("\r\n\r\n", from);
    if (end != std::string::npos && end + 4 <= kMostHead) {
      head_ = end + 4;
      return Head::complete;
    }
    if (buffer_.size() > kMostHead) return Head::too_long;
  }
}

ssize_t Connection::read(char* data, size_t size) {
  if (taken_ < buffer_.size()) {
    const size_t count = std::min(size, buffer_.size() - taken_);
    std::copy_n(buffer_.data() + taken_, count, data);
    taken_ += count;
    return static_cast<ssize_t>(count);
  }
  if (std::exchange(expects_continue_, false)) send_now("HTTP/1.1 100 Continue\r\n\r\n");
  for (;;) {
    if (!wait_for(POLLIN, read_)) return -1;
    const ssize_t count = ::recv(socket_, data, size, 0);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count > 0) read_.bytes += static_cast<uint64_t>(count);
    return count;
  }
}

ssize_t Connection::write(const char* data, size_t size) {
  for (;;) {
    if (!wait_for(POLLOUT, written_)) return -1;
    const ssize_t count = ::send(socket_, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count > 0) written_.bytes += static_cast<uint64_t>(count);
    return count;
  }
}

void Connection::send_now(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t count = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    text.remove_prefix(static_cast<size_t>(count));
  }
}

void Connection::finish() const {
  constexpr std::chrono::seconds kMoment(2);
  ::shutdown(socket_, SHUT_WR);
  const auto until = Clock::now() + kMoment;
  std::array<char, 16384> ignored{};
  while (wait(POLLIN, until))
    if (::recv(socket_, ignored.data(), ignored.size(), MSG_DONTWAIT) <= 0) return;
}

bool Connection::is_readable() const { return wait(POLLIN, Clock::now() + limits_.stalled_time); }

bool Connection::is_writable() const {
  pollfd one{.fd = socket_, .events = POLLRDHUP, .revents = 0};
  return !is_stopping_ && ::poll(&one, 1, 0) == 0;
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getpeername(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    split_address(address, ip, port);
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) == 0)
    split_address(address, ip, port);
}

}  // namespace eps::serve
