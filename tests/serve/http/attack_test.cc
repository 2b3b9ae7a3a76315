// Requests that are broken, too large, too slow or too many.
#include "tests/image_bytes.h"
#include "tests/serve/http/serving.h"

namespace eps::serve {
namespace {

constexpr const char* kDenoise =
    R"({"operator":{"denoise":true},"noise":"6","samples":1,"steps":1})";

class AttackTest : public Serving {
 protected:
  std::string head(const std::string& line, const std::string& fields = "") const {
    return line + " HTTP/1.1\r\nHost: localhost\r\nX-Eps-Token: " + server_->token() + "\r\n" +
           fields + "\r\n";
  }
  std::string post(const std::string& body) const {
    return head("POST /v1/restorations",
                "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: " +
                    std::to_string(body.size()) + "\r\n") +
           body;
  }
  std::string whole_form() const {
    return "--b\r\nContent-Disposition: form-data; name=\"options\"\r\n\r\n" +
           std::string(kDenoise) +
           "\r\n--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"p.png\"\r\n\r\n" +
           picture_ + "\r\n--b--\r\n";
  }
  int status_of_form(const httplib::MultipartFormDataItems& items) const {
    auto one = client();
    const auto answer = one.Post("/v1/restorations", items);
    EXPECT_TRUE(answer);
    if (answer && answer->status >= 400) {
      EXPECT_TRUE(json_of(answer->body)["error"].is_string());
      EXPECT_EQ(answer->body.find("/tmp"), std::string::npos) << answer->body;
    }
    return answer ? answer->status : 0;
  }
  bool is_alive() const { return get_json("/v1/status").contains("version"); }
};

TEST_F(AttackTest, BrokenFormsAreRefused) {
  start();
  EXPECT_EQ(status_in(raw(post(whole_form()))), 201);
  for (const std::string& body : {std::string(),
                                  std::string("x"),
                                  std::string("--b"),
                                  std::string("--b\r\n\r\n\r\n--b--"),
                                  whole_form().substr(0, 300)})
    EXPECT_EQ(status_in(raw(post(body))), 400);
  const auto options = [&](const std::string& text) { return status_of_form(form(text)); };
  for (const char* text : {"",
                           "{",
                           "[]",
                           "null",
                           R"({"operator":1})",
                           R"({"operator":{}})",
                           "{}",
                           R"({"operator":{"denoise":true,"motion":"3,3"}})",
                           R"({"operator":{"motion":"x"}})",
                           R"({"operator":{"mask":true}})",
                           R"({"operator":{"denoise":"yes"}})",
                           R"({"operator":{"spec":"inpaint_mask:file=/etc/passwd"}})",
                           R"({"operator":{"spec":"no_such"}})",
                           R"({"operator":{"bayer":"rggb | blur_kernel:file=/etc/x.png"}})",
                           R"({"operator":{"defocus":"3 | matrix:file=/etc/x.npy"}})",
                           R"({"operator":{"motion":"5,30 | inpaint_mask:file=/etc/x.png"}})",
                           R"({"operator":{"downscale":"4 | blur_kernel:file=/etc/x.png"}})",
                           R"({"operator":{"gaussian":"1 + identity"}})",
                           R"({"operator":{"gaussian":"1","border":"valid,size=9|grey"}})",
                           R"({"operator":{"denoise":true},"method":"daps:mcmc_steps=1000000000"})",
                           R"({"operator":{"denoise":true},"method":"tds:particles=100000"})",
                           R"({"operator":{"denoise":true},"noise":"-1"})",
                           R"({"operator":{"denoise":true},"samples":65})",
                           R"({"operator":{"denoise":true},"samples":1.5})",
                           R"({"operator":{"denoise":true},"steps":1000})",
                           R"({"operator":{"denoise":true},"method":"eps:steps=100000"})",
                           R"({"operator":{"denoise":true},"seed":-1})",
                           R"({"operator":{"denoise":true},"model":"../../x"})",
                           R"({"operator":{"denoise":true},"demo":"flowers"})",
                           R"({"operator":{"denoise":true},"region":"x"})",
                           R"({"operator":{"denoise":true},"unknown":1})"})
    EXPECT_EQ(options(text), 400) << text;
  auto twice = form(kDenoise);
  twice.push_back(twice[1]);
  EXPECT_EQ(status_of_form(twice), 400);
  auto other = form(kDenoise);
  other.push_back({"other", "1", "", ""});
  EXPECT_EQ(status_of_form(other), 400);
  auto unused = form(kDenoise);
  unused.push_back({"mask", picture_, "m.png", ""});
  EXPECT_EQ(status_of_form(unused), 400);
  EXPECT_TRUE(is_alive());
}

TEST_F(AttackTest, PicturesAreReadWithCare) {
  options_.limits.pixels = 100;
  start();
  const auto image = [&](const std::string& bytes, const std::string& name) {
    return status_of_form({{"options", kDenoise, "", ""}, {"image", bytes, name, ""}});
  };
  EXPECT_EQ(image(picture_, "../../../x.png"), 201);
  EXPECT_EQ(image(picture_, ""), 201);
  EXPECT_EQ(image("", "x.png"), 400);
  EXPECT_EQ(image("x", "x.png"), 400);
  EXPECT_EQ(image(picture_.substr(0, 60), "x.png"), 400);
  EXPECT_EQ(image(picture_, "x.npy"), 400);
  // A few bytes that claim to be many pixels.
  std::string bomb = picture_;
  bomb.replace(16, 8, big_endian(60000, 4) + big_endian(60000, 4));
  EXPECT_EQ(image(bomb, "x.png"), 413);
  EXPECT_EQ(image(encode_png(at::zeros({3, 11, 10}, at::kByte), ""), "x.png"), 413);
  // So are the mask's, and those of what is restored: 16 x 16 of 8 x 8.
  auto masked = form(R"({"operator":{"mask":true}})");
  masked.push_back({"mask", bomb, "m.png", ""});
  EXPECT_EQ(status_of_form(masked), 413);
  EXPECT_EQ(status_of_form(form(R"({"operator":{"downscale":"2"}})")), 413);
  EXPECT_TRUE(is_alive());
}

TEST_F(AttackTest, LargeBodiesAreRefusedUnread) {
  options_.limits.body_bytes = 1000;
  start();
  const std::string large = "POST /v1/restorations";
  EXPECT_EQ(status_in(raw(head(large, "Content-Length: 1001\r\n"))), 413);
  EXPECT_EQ(status_in(raw(head(large, "Content-Length: 99999999999\r\n"))), 413);
  // Also where the client sends it all the same.
  EXPECT_EQ(status_in(raw(head(large, "Content-Length: 300000\r\n") + std::string(300000, 'x'))),
            413);
  EXPECT_TRUE(is_alive());
}

TEST_F(AttackTest, MemoryOfBodiesIsBounded) {
  options_.limits.bodies_bytes = 1000;
  start();
  EXPECT_EQ(status_in(raw(post(std::string(2000, 'x')))), 503);
  EXPECT_EQ(status_in(raw(post(std::string(900, 'x')))), 400);  // what was read is free again
}

TEST_F(AttackTest, SlowClientsAreSentAwayAndKeepNobodyOut) {
  options_.limits.head_time = std::chrono::milliseconds(300);
  options_.limits.stalled_time = std::chrono::milliseconds(300);
  start();
  const int idle = connected(), half = connected(), body = connected();
  const std::string beginning = head("GET /v1/status").substr(0, 20),
                    form = post(whole_form()).substr(0, 200);
  ::send(half, beginning.data(), beginning.size(), MSG_NOSIGNAL);
  ::send(body, form.data(), form.size(), MSG_NOSIGNAL);
  EXPECT_TRUE(is_alive());
  EXPECT_EQ(status_in(rest_of(idle)), 408);
  EXPECT_EQ(status_in(rest_of(half)), 408);
  EXPECT_EQ(status_in(rest_of(body)), 408);
}

TEST_F(AttackTest, ConnectionsAndStreamsAreBounded) {
  options_.limits.connections = 4;
  options_.limits.streams = 1;
  start();
  const std::string id =
      ask(R"({"simulate":true,"operator":{"spec":"random_inpainting"},"samples":64,"steps":200})");
  const std::string events = head("GET /v1/restorations/" + id + "/events");
  const int stream = connected();
  ::send(stream, events.data(), events.size(), MSG_NOSIGNAL);
  std::array<char, 12> first{};
  ASSERT_GT(::recv(stream, first.data(), first.size(), MSG_WAITALL), 0);
  EXPECT_EQ(status_in(raw(events)), 503);
  std::vector<int> idle;
  for (int k = 0; k < 3; ++k) idle.push_back(connected());
  int status = 0;
  for (int attempt = 0; attempt < 100 && status != 503; ++attempt)
    status = status_in(raw(head("GET /v1/status")));
  EXPECT_EQ(status, 503);
  for (const int socket : idle) ::close(socket);
  for (int attempt = 0; attempt < 100 && status != 200; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    status = status_in(raw(head("GET /v1/status")));
  }
  EXPECT_EQ(status, 200);
  ::close(stream);
  status = 0;
  const std::string gone = head("DELETE /v1/restorations/" + id);
  EXPECT_EQ(status_in(raw(gone)), 202);
  for (int attempt = 0; attempt < 100 && status != 200; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    status = status_in(raw(events));
  }
  EXPECT_EQ(status, 200);  // the place of the stream whose client is gone
}

TEST_F(AttackTest, MutatedRequestsAreAnsweredAndHarmNothing) {
  start();
  const std::string good = post(whole_form());
  Rng rng(7);
  constexpr int64_t kRequests = 400;
  const Tensor drawn = rng.uniform({kRequests, 12});
  int refused = 0;
  for (int64_t k = 0; k < kRequests; ++k) {
    const auto number = [&](int64_t column, size_t below) {
      return static_cast<size_t>(drawn[k][column].item<double>() * static_cast<double>(below));
    };
    std::string bytes = good;
    for (int64_t edit = 0; edit < 3; ++edit) {
      const size_t at = number(4 * edit, bytes.size());
      switch (number(4 * edit + 1, 4)) {
        case 0:
          bytes[at] = static_cast<char>(number(4 * edit + 2, 256));
          break;
        case 1:
          bytes.erase(at, 1 + number(4 * edit + 2, 8));
          break;
        case 2:
          bytes.insert(at, bytes.substr(number(4 * edit + 2, bytes.size()), 9));
          break;
        default:
          std::swap(bytes[at], bytes[number(4 * edit + 2, bytes.size())]);
      }
    }
    // What is missing of a body is not waited for.
    const int socket = connected();
    ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    ::shutdown(socket, SHUT_WR);
    const int status = status_in(rest_of(socket));
    EXPECT_TRUE(status == 0 || status == 201 || (status >= 400 && status < 500)) << status;
    refused += status != 201;
  }
  EXPECT_GT(refused, kRequests / 2);
  EXPECT_TRUE(is_alive());
}

}  // namespace
}  // namespace eps::serve
