// Experiments as JSON, the cells they are made of, and the files that come with eps.
#include "eps/experiment/experiment.h"

#include <filesystem>

#include "eps/experiment/folder.h"
#include "eps/experiment/plan.h"
#include "tests/files.h"

namespace eps::experiment {
namespace {

const std::string kSmall = R"({
  "title": "Two", "about": "words", "images": 3, "samples": 2, "sigma_y": 0.1, "seed": 4,
  "tasks": ["random_inpainting", "identity"],
  "methods": [{"label": "DPS", "method": "dps:scale=2", "tasks": ["identity"]},
              {"label": "EPS", "method": "eps", "model": "eps_{task}", "steps": [20, 1]},
              {"label": "Mean", "method": "eps", "score": "mean"}],
  "metrics": ["psnr", "fid"],
  "plots": [{"x": "nfe", "y": "psnr"}]})";

TEST(Experiment, IsReadAndWrittenAlike) {
  const Experiment e = parse_experiment(kSmall, "small");
  EXPECT_EQ(e.title, "Two");
  EXPECT_EQ(e.images, 3);
  EXPECT_EQ(e.sigma_y, 0.1);
  EXPECT_EQ(e.methods[1].steps, (std::vector<int64_t>{20, 1}));
  EXPECT_EQ(to_json(parse_experiment(to_json(e), "again")), to_json(e));
}

TEST(Experiment, HasACellForEveryTaskMethodAndNumberOfSteps) {
  const auto cells = cells_of(parse_experiment(kSmall, "small"),
                              {{"prior", {"p"}}, {"eps_identity", {"a", "b"}}, {"eps", {"e"}}});
  std::vector<std::string> words;
  for (const Cell& cell : cells)
    words.push_back(cell.task + " " + cell.label + " " + std::to_string(cell.steps) + " " +
                    cell.model + "=" + cell.model_file + (cell.of_mean ? " mean" : ""));
  EXPECT_EQ(words,
            (std::vector<std::string>{"random_inpainting EPS 20 eps_random_inpainting=",
                                      "random_inpainting EPS 1 eps_random_inpainting=",
                                      "random_inpainting Mean 0 eps=e mean",
                                      "identity DPS 0 prior=p",
                                      "identity EPS 20 eps_identity=a",
                                      "identity EPS 1 eps_identity=a",
                                      "identity EPS 20 eps_identity=b",
                                      "identity EPS 1 eps_identity=b",
                                      "identity Mean 0 eps=e mean"}));
}

// The error when `text` stands for `old` in the small experiment.
std::string error_with(const std::string& old, const std::string& text) {
  std::string json = kSmall;
  json.replace(json.find(old), old.size(), text);
  return error_of([&] { parse_experiment(json, "small"); });
}

TEST(Experiment, SaysWhatIsWrong) {
  EXPECT_EQ(error_with("\"images\"", "\"imagse\""),
            "small: unknown field \"imagse\" (did you mean \"images\"?)");
  EXPECT_EQ(error_with("\"images\": 3", "\"images\": \"3\""),
            "small: images must be a whole number, got \"3\"");
  EXPECT_EQ(error_with("\"images\": 3", "\"images\": 0"),
            "small: images must be 1 to 1000000, got 0");
  EXPECT_EQ(error_with("\"title\": \"Two\", ", ""), "small: title is missing");
  EXPECT_EQ(error_with("[20, 1]", "20"), "small: methods[1]: steps must be a list, got 20");
  EXPECT_EQ(error_with("[20, 1]", "[20, 0]"), "small: methods[1]: steps are 1 to 1000000, got 0");
  EXPECT_EQ(error_with("\"seed\": 4", "\"seed\": 4, \"sheet_images\": 0"),
            "small: sheet_images must be 1 to 8, got 0");
  EXPECT_NE(error_with("\"images\": 3", "\"images\": 1e400").find("small: no JSON"),
            std::string::npos);
  EXPECT_NE(error_with("dps:scale", "dpz:scale").find("small: methods[0]: unknown method \"dpz\""),
            std::string::npos);
  EXPECT_NE(error_with("random_inpainting", "random_inpaintin").find("small: unknown task"),
            std::string::npos);
  EXPECT_EQ(error_with("[\"identity\"]}", "[\"grey\"]}"),
            "small: methods[0]: the task grey is not one of the experiment's");
  EXPECT_NE(error_with("\"psnr\", \"fid\"", "\"psnrr\"").find("psnrr"), std::string::npos);
  EXPECT_EQ(error_with("\"nfe\"", "\"time\""),
            "small: a plot's x must be nfe, images_seen, seconds or task, got time");
  EXPECT_EQ(error_with("\"mean\"", "\"median\""),
            "small: methods[2]: score must be samples or mean, got median");
  EXPECT_NE(error_of([] { parse_experiment("{", "small"); }).find("small: no JSON"),
            std::string::npos);
  EXPECT_EQ(error_with("\"seed\": 4", "\"seed\": 4, \"seed\": 5"), "small: 'seed' appears twice");
  EXPECT_EQ(error_with("\"images\": 3", "\"images\": true"),
            "small: images must be a whole number, got true");
  EXPECT_EQ(error_with("\"Two\"", std::string(100000, '[') + std::string(100000, ']')),
            "small: nests deeper than 64 levels");
}

TEST(Experiment, IsKeptWhateverTheNameOfItsData) {
  const Folder folder;
  Experiment e = parse_experiment(kSmall, "small");
  e.data = "im\xff";
  EXPECT_EQ(parse_experiment(to_json(e), "again").data, "im\xef\xbf\xbd");
  for (int i = 0; i < 2; ++i) open_experiment_folder(folder.file("out"), e, "hash");
  put_bytes(folder.file("out/experiment.json"), "{\"protocol\": 1}");
  EXPECT_EQ(error_of([&] { open_experiment_folder(folder.file("out"), e, "hash"); }),
            folder.file("out/experiment.json") + ": protocol must be a JSON object");
}

TEST(Experiment, SharesWorkOutEvenly) {
  const auto owner = share_out({{"a", 5}, {"b", 4}, {"c", 3}, {"d", 3}}, 2);
  EXPECT_EQ(owner, (std::map<std::string, int64_t>{{"a", 0}, {"b", 1}, {"c", 1}, {"d", 0}}));
}

TEST(Experiment, ReplacedFilesOfOperatorsAreNoticed) {
  const Folder folder;
  for (const char* name : {"mask.npy", "my mask+1|2.npy"}) {
    const std::string mask = folder.file(name);
    const std::string spec = "grey + blur_gaussian:std=1 | inpaint_mask:file=" + mask;
    put_bytes(mask, "one");
    const std::string before = files_hash(spec);
    put_bytes(mask, "two");
    EXPECT_NE(files_hash(spec), before) << name;
  }
  EXPECT_EQ(files_hash("random_inpainting"), "");
}

TEST(Experiment, AllThatComeWithEpsCanBeRead) {
  int64_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(EPS_SOURCE_DIR "/experiments")) {
    SCOPED_TRACE(entry.path().string());
    const Experiment e = parse_experiment(get_bytes(entry.path().string()), "file");
    EXPECT_FALSE(e.about.empty());
    for (const Cell& cell : cells_of(e, {})) choose_method(cell.method, cell.task, cell.steps);
    ++count;
  }
  EXPECT_GE(count, 15);
}

}  // namespace
}  // namespace eps::experiment
