// The whole path of a restoration over HTTP.
#include "eps/io/npy.h"
#include "eps/report/restored_files.h"
#include "eps/serve/page.h"
#include "tests/serve/http/serving.h"

namespace eps::serve {
namespace {

constexpr const char* kLong =
    R"({"simulate":true,"operator":{"spec":"inpaint_random:missing=0.5"},"samples":64,"steps":200})";

class ServerTest : public Serving {
 protected:
  // Returns the files that restore_measurement() makes of the same request.
  std::string restored_here(RestorationRequest request) {
    const std::string picture = folder_.file("p.png"), out = folder_.file("out");
    put_bytes(picture, picture_);
    request.input = picture;
    report::write_restored(out, restore_measurement(request, read_checkpoint(network_)));
    return out;
  }
};

TEST_F(ServerTest, MakesTheFilesOfRestore) {
  start();
  const std::string id = ask(
      R"({"operator":{"motion":"2,30","border":"circular"},"noise":"sigma=0.1","samples":3,"steps":4,)"
      R"("seed":5,"name":"mine"})");
  const std::string events = events_of(id), path = "/v1/restorations/" + id;
  EXPECT_TRUE(events.ends_with("event: end\ndata: {\"state\":\"done\"}\n\n")) << events;
  EXPECT_NE(events.find("event: stage\ndata: {\"name\":\"evaluations\",\"total\":12}"),
            std::string::npos);
  EXPECT_NE(events.find("{\"done\":8,\"total\":8,"), std::string::npos);

  const std::string out =
      restored_here({.operator_options = {.motion = "2,30", .border = "circular"},
                     .sigma_y = 0.1,
                     .steps = 4,
                     .options = {.samples = 3, .batch = 0, .seed = 5}});
  const Json job = get_json(path);
  EXPECT_EQ(job["state"], "done");
  EXPECT_EQ(job["name"], "mine");
  EXPECT_EQ(job["samples"], 3);
  EXPECT_EQ(job["width"], 8);
  EXPECT_EQ(job["report"]["input"], "p.png");
  EXPECT_EQ(job["command"],
            "eps restore p.png --motion 2,30 --border circular --noise sigma=0.1 --samples 3 "
            "--steps 4 --seed 5 --model " +
                network_);
  auto one = client();
  int64_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    const std::string name = entry.path().filename().string();
    const auto answer = one.Get(path + "/files/" + name);
    ASSERT_TRUE(answer && answer->status == 200) << name;
    const bool has_times = name == "restore.json";
    EXPECT_TRUE(has_times || answer->body == get_bytes(entry.path().string())) << name;
    ++files;
  }
  EXPECT_EQ(std::ssize(job["files"]), files + 1);  // and the picture as it was given
  EXPECT_EQ(one.Get(path + "/files/image.png")->body, encode_png(parse_image(picture_, ""), ""));
  EXPECT_EQ(one.Get(path + "/files/lock")->status, 404);

  const auto archive = one.Get(path + "/result.zip");
  ASSERT_TRUE(archive && archive->status == 200);
  EXPECT_EQ(archive->get_header_value("Content-Disposition"),
            "attachment; filename=\"p-restored.zip\"");
  for (const auto& entry : std::filesystem::directory_iterator(out))
    EXPECT_NE(archive->body.find(entry.path().filename().string()), std::string::npos);
  EXPECT_EQ(one.Get(path + "/preview.png")->status, 200);
  EXPECT_EQ(one.Delete(path)->status, 204);
  EXPECT_EQ(one.Get(path)->status, 404);
}

TEST_F(ServerTest, HolesAndSingleEvaluationsHaveANetworkOfTheirOwn) {
  options_.usual.holes = folder_.file("holes.safetensors");
  {
    const c10::NoGradGuard no_gradients;
    write_small_eps(options_.usual.holes, {.sigma_y = "0.01..0.2"});
  }
  start();
  for (const Json& network : get_json("/v1/models")) {
    EXPECT_EQ(network["default"], network["name"] == network_);
    EXPECT_EQ(network["default_for_holes"], network["name"] == options_.usual.holes);
  }
  const auto command_of = [&](const std::string& options, bool masked) {
    auto parts = form(options);
    if (masked) parts.push_back({"mask", picture_, "m.png", "image/png"});
    auto one = client();
    const auto answer = one.Post("/v1/restorations", parts);
    EXPECT_EQ(answer->status, 201) << answer->body;
    const std::string id = json_of(answer->body)["id"];
    return get_json("/v1/restorations/" + id)["command"].get<std::string>();
  };
  const auto named = [](const std::string& network) { return "--model " + network; };
  const std::string noise = R"("noise":"6","samples":1,"steps":1})";
  const std::string denoise = R"({"operator":{"denoise":true},)" + noise;
  EXPECT_TRUE(command_of(denoise, false).ends_with(named(network_)));
  EXPECT_TRUE(command_of(R"({"operator":{"mask":true},)" + noise, true)
                  .ends_with(named(options_.usual.holes)));
  EXPECT_TRUE(command_of(R"({"operator":{"denoise":true},"noise":"6","quick":true})", false)
                  .ends_with(named(options_.usual.holes)));
  EXPECT_TRUE(
      command_of(R"({"model":")" + network_ + R"(","operator":{"mask":true},)" + noise, true)
          .ends_with(named(network_)));
}

TEST_F(ServerTest, TellsWhatAPixelMayHaveBeen) {
  start();
  const std::string id =
      ask(R"({"operator":{"denoise":true},"noise":"sigma=0.2","samples":3,"steps":2,"seed":1})");
  events_of(id);
  const std::string out = restored_here({.operator_options = {.denoise = true},
                                         .sigma_y = 0.2,
                                         .steps = 2,
                                         .options = {.samples = 3, .batch = 0, .seed = 1}});
  const Tensor samples = read_npy(out + "/samples.npy"), low = read_npy(out + "/interval.npy")[0];
  const Json pixel = get_json("/v1/restorations/" + id + "/pixel?x=2&y=5");
  ASSERT_EQ(pixel["channels"].size(), 3u);
  for (int64_t c = 0; c < 3; ++c) {
    const Json& channel = pixel["channels"][static_cast<size_t>(c)];
    for (int64_t k = 0; k < 3; ++k)
      EXPECT_NEAR(channel["samples"][static_cast<size_t>(k)].get<double>(),
                  (samples[k][c][5][2].item<double>() + 1) * 127.5,
                  1e-4);
    EXPECT_NEAR(channel["low"].get<double>(), (low[c][5][2].item<double>() + 1) * 127.5, 1e-4);
  }
  auto one = client();
  for (const char* query : {"x=8&y=0", "x=-1&y=0", "x=0", "x=a&y=0", "x=1e0&y=0"})
    EXPECT_EQ(one.Get("/v1/restorations/" + id + "/pixel?" + query)->status, 400) << query;
}

TEST_F(ServerTest, CancelsAtTheNextEvaluation) {
  start();
  const std::string id = ask(kLong), path = "/v1/restorations/" + id;
  while (get_json(path)["evaluations"]["done"] == 0) std::this_thread::yield();
  auto one = client();
  EXPECT_EQ(one.Get(path + "/files/mean.png")->status, 409);
  EXPECT_EQ(one.Get(path + "/result.zip")->status, 409);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(one.Delete(path)->status, 202);
  EXPECT_TRUE(events_of(id).ends_with("event: end\ndata: {\"state\":\"cancelled\"}\n\n"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  const Json job = get_json(path);
  EXPECT_EQ(job["state"], "cancelled");
  EXPECT_LT(job["evaluations"]["done"].get<int64_t>(), 64 * 200);
  EXPECT_EQ(one.Delete(path)->status, 204);
  EXPECT_EQ(one.Delete(path)->status, 404);
}

TEST_F(ServerTest, ALateStreamBeginsWithWhatIsKnown) {
  start();
  const std::string id = ask(kLong), path = "/v1/restorations/" + id;
  for (int visit = 0; visit < 2; ++visit) {
    std::string seen;
    auto one = client();
    // Leaves in the middle, as a page that is loaded again does.
    one.Get(path + "/events", [&](const char* data, size_t size) {
      seen.append(data, size);
      return seen.find("event: evaluation") == std::string::npos;
    });
    EXPECT_TRUE(seen.starts_with("event: state\ndata: {\"state\":\"")) << seen;
    EXPECT_NE(seen.find("event: stage\ndata: {\"name\":\"evaluations\",\"total\":12800}"),
              std::string::npos)
        << seen;
  }
  EXPECT_EQ(get_json(path)["state"], "running");
  auto one = client();
  EXPECT_EQ(one.Get(path + "/preview.png")->status, 200);
  one.Delete(path);
}

TEST_F(ServerTest, WhoWaitsKnowsItsPlaceAndTooManyAreRefused) {
  options_.limits.waiting = 2;
  start();
  const std::string running = ask(kLong);
  while (get_json("/v1/restorations/" + running)["state"] == "queued") std::this_thread::yield();
  const std::string first = ask(kLong), second = ask(kLong);
  auto one = client();
  const auto third = one.Post("/v1/restorations", form(kLong));
  ASSERT_TRUE(third);
  EXPECT_EQ(third->status, 429);
  EXPECT_EQ(third->get_header_value("Retry-After"), "10");
  EXPECT_EQ(json_of(third->body)["error"], "the queue is full: 2 restorations wait");
  EXPECT_EQ(get_json("/v1/restorations/" + second)["position"], 2);
  EXPECT_EQ(get_json("/v1/status")["queue"], (Json{{"waiting", 2}, {"limit", 2}}));
  one.Delete("/v1/restorations/" + first);
  EXPECT_EQ(get_json("/v1/restorations/" + second)["position"], 1);
  const Json list = get_json("/v1/restorations");
  ASSERT_EQ(list.size(), 3u);
  EXPECT_EQ(list[1]["state"], "cancelled");
}

TEST_F(ServerTest, HasAPageThatBrowsersKeep) {
  start();
  httplib::Client one("127.0.0.1", server_->port());
  const auto page = one.Get("/");
  ASSERT_TRUE(page && page->status == 200);
  EXPECT_EQ(page->get_header_value("Content-Type"), "text/html; charset=utf-8");
  EXPECT_TRUE(page->get_header_value("Content-Security-Policy").starts_with("default-src 'self'"));
  EXPECT_EQ(page->get_header_value("Access-Control-Allow-Origin"), "");
  const auto again = one.Get("/", {{"If-None-Match", page->get_header_value("ETag")}});
  EXPECT_EQ(again->status, 304);
  EXPECT_EQ(again->body, "");
  size_t bytes = 0;
  for (const PageFile& file : page_files()) {
    EXPECT_EQ(one.Get("/page/" + std::string(file.name))->body, file.content);
    bytes += file.content.size();
  }
  EXPECT_EQ(page_files().empty(), false);
  EXPECT_LT(bytes, 150000u);
  EXPECT_EQ(one.Get("/page/absent.js")->status, 404);
  EXPECT_EQ(one.Get("/v1/status")->status, 401);
}

TEST_F(ServerTest, ShowsWhatAnOperatorDoesAndTheNoiseOfAPatch) {
  start();
  auto one = client();
  const auto plain = one.Post("/v1/preview", form(R"({"operator":{"denoise":true}})"));
  ASSERT_TRUE(plain && plain->status == 200);
  EXPECT_TRUE(identical(parse_image(plain->body, ""), parse_image(picture_, "")));
  const auto small = one.Post("/v1/preview", form(R"({"operator":{"downscale":"2"}})"));
  ASSERT_TRUE(small && small->status == 200);
  // The mean of 2 x 2 pixels, to half a grey level; the picture fills the frame by repetition.
  const Tensor wanted = at::avg_pool2d(parse_image(picture_, "").to(at::kDouble), 2);
  const Tensor shown = parse_image(small->body, "").to(at::kDouble);
  const int64_t each = shown.size(1) / wanted.size(1);
  EXPECT_LE((at::avg_pool2d(shown, each) - wanted).abs().max().item<double>(), 1);
  const auto noise = one.Post("/v1/noise", form(R"({"x":0,"y":0,"width":8,"height":8})"));
  ASSERT_TRUE(noise && noise->status == 200);
  const Json level = json_of(noise->body);
  EXPECT_NEAR(level["grey_levels"].get<double>(), 127.5 * level["sigma"].get<double>(), 1e-9);
  EXPECT_EQ(one.Post("/v1/noise", form(R"({"x":1,"y":0,"width":8,"height":8})"))->status, 400);
}

TEST_F(ServerTest, DrawsTheExactPosterior) {
  start();
  const Json answer =
      get_json("/v1/exactness?prior=gaussian&sigma_y=0.1&a=1,0.5&y=0.4&samples=2000");
  // N(m, C) given y = a.x + n: m + C a (y - a.m) / (a.C a + sigma_y^2).
  const double C[2][2] = {{0.20, 0.12}, {0.12, 0.15}}, a[2] = {1, 0.5}, m[2] = {0.1, -0.1};
  const double Ca[2] = {C[0][0] * a[0] + C[0][1] * a[1], C[1][0] * a[0] + C[1][1] * a[1]};
  const double s = a[0] * Ca[0] + a[1] * Ca[1] + 0.01, r = 0.4 - a[0] * m[0] - a[1] * m[1];
  const Json &methods = answer["methods"], &truth = answer["truth"];
  EXPECT_EQ(methods[0]["name"], "EPS");
  for (size_t k = 0; k < 2; ++k) {
    const double mean = m[k] + Ca[k] * r / s, variance = C[k][k] - Ca[k] * Ca[k] / s;
    EXPECT_NEAR(truth["mean"][k].get<double>(), mean, 1e-9);
    EXPECT_NEAR(truth["covariance"][k][k].get<double>(), variance, 1e-9);
    double sum = 0;
    for (const Json& point : methods[0]["samples"]) sum += point[k].get<double>();
    EXPECT_NEAR(sum / 2000, mean, 5 * std::sqrt(variance / 2000));
  }
  EXPECT_EQ(get_json("/v1/exactness?prior=mixture&samples=3")["prior"]["components"].size(), 3u);
  auto one = client();
  for (const char* query : {"samples=0",
                            "samples=1e9",
                            "sigma_y=0",
                            "sigma_y=x",
                            "a=1",
                            "a=0,0",
                            "prior=other",
                            "steps=1000"})
    EXPECT_EQ(one.Get(std::string("/v1/exactness?") + query)->status, 400) << query;
}

TEST_F(ServerTest, LeavesNothingBehind) {
  const Folder parent;
  ::setenv("TMPDIR", parent.file("").c_str(), 1);
  start();
  ask(kLong);
  ask(kLong);
  EXPECT_EQ(parent.names().size(), 1u);
  server_.reset();
  EXPECT_TRUE(parent.names().empty());
  ::unsetenv("TMPDIR");
}

TEST_F(ServerTest, OtherMachinesNeedATokenOfTheUsers) {
  options_.host = "0.0.0.0";
  EXPECT_EQ(error_of([&] { start(); }),
            "serve: host 0.0.0.0: other machines can reach it; a token of your own is wanted");
  options_.token = "short";
  EXPECT_EQ(error_of([&] { start(); }), "serve: a token of at least 16 characters is wanted");
  options_.host = "127.0.0.1";
  options_.token = "a-token-of-my-own";
  start();
  EXPECT_EQ(server_->address(),
            "http://127.0.0.1:" + std::to_string(server_->port()) + "/?token=a-token-of-my-own");
  ServerOptions second = options_;
  second.port = server_->port();
  EXPECT_NE(error_of([&] { const Server other(second); }).find("another program has the port"),
            std::string::npos);
}

}  // namespace
}  // namespace eps::serve
