// A server with a small network, and clients of it.
#pragma once

#include <arpa/inet.h>
#include <httplib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "eps/base/json.h"
#include "eps/io/images/image.h"
#include "eps/serve/server.h"
#include "tests/files.h"
#include "tests/small_checkpoints.h"

namespace eps::serve {

// A server of one network for 3 x 8 x 8 images, untrained.
class Serving : public testing::Test {
 protected:
  void start() {
    const c10::NoGradGuard no_gradients;
    write_small_eps(network_, {.tasks = {"random_inpainting"}, .sigma_y = "0.01..0.2"});
    Rng rng(1);
    picture_ = encode_png((rng.uniform({1, 3, 8, 8})[0] * 255).to(at::kByte), "picture");
    options_.port = 0;
    options_.usual.samples = network_;
    options_.load = [](const std::string& name) { return read_checkpoint(name); };
    server_ = std::make_unique<Server>(options_);
  }
  // A client of this test, with the token.
  httplib::Client client() const {
    httplib::Client one("127.0.0.1", server_->port());
    one.set_default_headers({{"X-Eps-Token", server_->token()}});
    one.set_read_timeout(60);
    return one;
  }
  // Returns a form with the picture and these options.
  httplib::MultipartFormDataItems form(const std::string& options) const {
    return {{"options", options, "", "application/json"},
            {"image", picture_, "p.png", "image/png"}};
  }
  // Asks for a restoration, and returns its id.
  std::string ask(const std::string& options) const {
    auto one = client();
    const auto answer = one.Post("/v1/restorations", form(options));
    EXPECT_TRUE(answer && answer->status == 201) << (answer ? answer->body : "no answer");
    return answer ? json_of(answer->body)["id"].get<std::string>() : "";
  }
  static Json json_of(const std::string& text) { return parse_json(text, "the answer"); }
  Json get_json(const std::string& path) const {
    auto one = client();
    const auto answer = one.Get(path);
    EXPECT_TRUE(answer) << path;
    return answer ? json_of(answer->body) : Json();
  }
  // Returns the events of a restoration up to its end.
  std::string events_of(const std::string& id) const {
    auto one = client();
    const auto answer = one.Get("/v1/restorations/" + id + "/events");
    EXPECT_TRUE(answer && answer->status == 200);
    return answer ? answer->body : "";
  }
  int connected() const {
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(server_->port()));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return socket;
  }
  // Returns what comes until the server closes.
  static std::string rest_of(int socket) {
    std::string text;
    std::array<char, 4096> part;
    for (ssize_t count; (count = ::recv(socket, part.data(), part.size(), 0)) > 0;)
      text.append(part.data(), static_cast<size_t>(count));
    ::close(socket);
    return text;
  }
  // Sends bytes as they are, and returns the answer.
  std::string raw(const std::string& bytes) const {
    const int socket = connected();
    ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return rest_of(socket);
  }
  // Returns the status of an answer; 0 if there is none.
  static int status_in(const std::string& answer) {
    return answer.starts_with("HTTP/1.1 ") ? std::atoi(answer.c_str() + 9) : 0;
  }

  Folder folder_;
  ServerOptions options_;
  std::unique_ptr<Server> server_;
  const std::string network_ = folder_.file("network.safetensors");
  std::string picture_;
};

}  // namespace eps::serve
