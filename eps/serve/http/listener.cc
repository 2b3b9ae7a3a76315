// The HTTP server.
#include "eps/serve/http/listener.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <new>
#include <nlohmann/json.hpp>

#include "eps/base/json.h"
#include "eps/serve/endpoints.h"
#include "eps/serve/http/connection_threads.h"
#include "eps/serve/job_run.h"

namespace eps::serve {
namespace {

constexpr int kBacklog = 256;

// What every answer says to browsers: the page takes nothing from elsewhere, and none shows it.
const std::vector<std::pair<const char*, const char*>> kSafeHeaders = {
    {"Content-Security-Policy",
     "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
     "object-src 'none'"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Connection", "close"}};

// What the thread of a connection has read of its request.
thread_local Connection* current_connection = nullptr;
thread_local const RequestHead* current_head = nullptr;

std::string error_body(const std::string& words) {
  return json_text({{"error", words.substr(0, words.find('\n'))}}) + "\n";
}

std::string text_of_refusal(const Refusal& refusal) {
  const std::string body = error_body(refusal.words);
  std::string text = "HTTP/1.1 " + std::to_string(refusal.status) + " Refused\r\n";
  for (const auto& [name, value] : kSafeHeaders) text += std::string(name) + ": " + value + "\r\n";
  for (const auto& [name, value] : refusal.headers) text += name + ": " + value + "\r\n";
  return text + "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

void put_refusal(const Refusal& refusal, httplib::Response& response) {
  response.status = refusal.status;
  for (const auto& [name, value] : refusal.headers) response.set_header(name, value);
  response.set_content(error_body(refusal.words), "application/json");
}

// Sends a file piece by piece.
void put_file(const std::string& path, const std::string& type, httplib::Response& response) {
  const std::shared_ptr<int> file(new int(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), [](int* fd) {
    if (*fd >= 0) ::close(*fd);
    delete fd;
  });
  const off_t size = *file < 0 ? -1 : ::lseek(*file, 0, SEEK_END);
  if (size < 0) throw Refusal{404, "there is no such file"};
  if (size == 0) return response.set_content("", type);
  response.set_content_provider(
      static_cast<size_t>(size),
      type,
      [file](size_t offset, size_t length, httplib::DataSink& sink) {
        std::array<char, 65536> part;
        const ssize_t count =
            ::pread(*file, part.data(), std::min(length, part.size()), static_cast<off_t>(offset));
        return count > 0 && sink.write(part.data(), static_cast<size_t>(count));
      });
}

void put_stream(const Answer& answer, httplib::Response& response) {
  response.set_chunked_content_provider(
      answer.type, [next = answer.next](size_t, httplib::DataSink& out) {
        Sink sink{
            .write = [&](const std::string& text) { return out.write(text.data(), text.size()); },
            .is_open = [&] { return out.is_writable(); }};
        if (!next(sink)) out.done();
        return true;
      });
}

void put_answer(const Answer& answer, httplib::Response& response) {
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  if (!answer.file.empty()) return put_file(answer.file, answer.type, response);
  if (answer.next) return put_stream(answer, response);
  if (!answer.body.empty()) response.set_content(answer.body, answer.type);
}

}  // namespace

Listener::Listener(Site& site, HeadRules rules) : site_(site), rules_(std::move(rules)) {
  httplib::Headers headers;
  for (const auto& [name, value] : kSafeHeaders)
    if (std::string_view(name) != "Connection") headers.emplace(name, value);
  set_default_headers(std::move(headers));
  set_tcp_nodelay(true);
  // Without SO_REUSEPORT, with which two servers would share a port.
  set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  new_task_queue = [most = site.limits.connections] { return new ConnectionThreads(most); };
  set_payload_max_length(rules_.body_bytes);
  const auto without_body = [this](const httplib::Request& request, httplib::Response& response) {
    respond(request, response, nullptr);
  };
  Get(".*", without_body);
  Delete(".*", without_body);
  Post(".*",
       [this](const httplib::Request& request,
              httplib::Response& response,
              const httplib::ContentReader& reader) { respond(request, response, &reader); });
}

Listener::~Listener() { close(); }

int Listener::open(const std::string& host, int port) {
  const bool is_bound = port == 0 ? (port = bind_to_any_port(host)) > 0 : bind_to_port(host, port);
  check(is_bound,
        "serve: ",
        host,
        ":",
        port,
        " cannot be listened to: another program has the port, or it is no "
        "address of this machine");
  // cpp-httplib would let five clients wait.
  ::listen(svr_sock_, kBacklog);
  thread_ = std::thread([this] { listen_after_bind(); });
  while (!is_running()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return port;
}

void Listener::close() {
  if (!thread_.joinable()) return;
  stop();
  thread_.join();
}

bool Listener::process_and_close_socket(socket_t socket) {
  Connection connection(socket, site_.limits, site_.is_stopping);
  bool served = false;
  if (ConnectionThreads::turns_away()) {
    connection.send_now(
        text_of_refusal({503, "too many connections are open", {{"Retry-After", "5"}}}));
    ::shutdown(socket, SHUT_WR);
  } else {
    served = serve(connection);
    connection.finish();
  }
  ::close(socket);
  return served;
}

bool Listener::serve(Connection& connection) {
  RequestHead head;
  try {
    switch (connection.read_head()) {
      case Connection::Head::closed:
        return false;
      case Connection::Head::late:
        throw Refusal{408, "the head of the request did not come in time"};
      case Connection::Head::too_long:
        throw Refusal{431, "the head of the request is too long"};
      case Connection::Head::complete:
        break;
    }
    head = parse_request_head(connection.head(), rules_);
  } catch (const Refusal& refusal) {
    connection.send_now(text_of_refusal(refusal));
    return false;
  }
  if (head.expects_continue) connection.expect_continue();
  current_connection = &connection;
  current_head = &head;
  bool closed = true;
  const bool done = process_request(connection, true, closed, [](httplib::Request& request) {
    // These are dealt with here: forms are read whole, and answers are not compressed.
    for (const char* name : {"Content-Type", "Expect", "Accept-Encoding"})
      request.headers.erase(name);
  });
  current_connection = nullptr;
  current_head = nullptr;
  return done;
}

// A `Claim` counts the bytes of a body as long as its request is being answered.
class Listener::Claim {
 public:
  explicit Claim(std::atomic<uint64_t>& all) : all_(all) {}
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;
  ~Claim() { all_ -= own_; }

  // Returns whether all requests together hold at most so many bytes with these.
  bool take(uint64_t bytes, uint64_t most) {
    own_ += bytes;
    return (all_ += bytes) <= most;
  }

 private:
  std::atomic<uint64_t>& all_;
  uint64_t own_ = 0;
};

std::string Listener::read_body(const httplib::ContentReader& reader, Claim& claim) {
  // The memory of bodies is counted as it fills: who sends slowly keeps nobody away.
  std::string body;
  bool too_much = false;
  const bool complete = reader([&](const char* data, size_t size) {
    too_much = !claim.take(size, site_.limits.bodies_bytes);
    if (too_much) return false;
    body.append(data, size);
    return true;
  });
  if (too_much) throw Refusal{503, "too many bodies are being read", {{"Retry-After", "5"}}};
  if (current_connection->is_late()) throw Refusal{408, "the body did not come in time"};
  if (!complete) throw Refusal{400, "the body is shorter than its Content-Length"};
  return body;
}

void Listener::respond(const httplib::Request&,
                       httplib::Response& response,
                       const httplib::ContentReader* reader) {
  Request request = current_head->request;
  Claim claim(bodies_);
  if (reader != nullptr) request.read_body = [&] { return read_body(*reader, claim); };
  try {
    const c10::NoGradGuard no_gradients;
    put_answer(answer(site_, request), response);
  } catch (const Refusal& refusal) {
    put_refusal(refusal, response);
  } catch (const Error& error) {
    put_refusal({400, public_words(error.what(), site_.folder.path())}, response);
  } catch (const c10::Error& error) {
    put_refusal({400, error.what_without_backtrace()}, response);
  } catch (const std::bad_alloc&) {
    put_refusal({503, "the memory does not suffice"}, response);
  } catch (const std::exception& error) {
    put_refusal({500, error.what()}, response);
  }
}

}  // namespace eps::serve
