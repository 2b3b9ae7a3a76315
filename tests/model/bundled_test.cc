// Networks by name: the first folder that has one, what there are, and what to say of the rest.
#include "eps/model/bundled.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "eps/training/initial_network.h"
#include "tests/program.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

namespace fs = std::filesystem;

// EPS_MODELS names a folder with two networks and some images.
class Models : public ::testing::Test {
 protected:
  Models() {
    ::setenv("EPS_MODELS", folder_.file("").c_str(), 1);
    put_bytes(folder_.file("faces64-eps.safetensors"), "eps");
    put_bytes(folder_.file("faces64-prior.safetensors"), "prior");
    put_bytes(folder_.file("README.md"), "words");
    fs::create_directory(folder_.file("images"));
  }
  ~Models() override { ::unsetenv("EPS_MODELS"); }

  const Folder folder_;
};

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

TEST_F(Models, AreFoundByName) {
  EXPECT_EQ(get_bytes(find_model("faces64-eps")), "eps");
  EXPECT_EQ(get_bytes(find_model("faces64-prior")), "prior");
}

TEST_F(Models, ForPhotographsDependOnTheDevice) {
  EXPECT_EQ(photos_network(at::kCPU), "photos-eps-small");
  // The test reads the folder of the source tree, too.
  put_bytes(folder_.file("photos-eps.safetensors"), "large");
  EXPECT_EQ(photos_network(at::kCUDA), "photos-eps");
  EXPECT_EQ(photos_network(at::kCPU), "photos-eps-small");
  EXPECT_EQ(photos_network(at::kCPU, true), "photos-eps");
}

TEST_F(Models, AreFilesFirst) {
  const Folder other;
  put_bytes(other.file("faces64-eps"), "own");
  EXPECT_EQ(find_model(other.file("faces64-eps")), other.file("faces64-eps"));
  const fs::path before = fs::current_path();
  fs::current_path(other.file(""));
  const std::string in_working_folder = find_model("faces64-eps");
  fs::remove("faces64-eps");
  fs::create_directory("faces64-eps");  // a folder is no network
  const std::string past_a_folder = find_model("faces64-eps");
  fs::current_path(before);
  EXPECT_EQ(in_working_folder, "faces64-eps");
  EXPECT_EQ(get_bytes(past_a_folder), "eps");
}

TEST_F(Models, ThatAreDamagedAreALineOfTheList) {
  const Outcome outcome = run_program(EPS_PROGRAM, "list models");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  for (const char* name : {"faces64-eps.safetensors: ", "faces64-prior.safetensors: "})
    EXPECT_NE(outcome.output.find(name), std::string::npos) << outcome.output;
}

TEST_F(Models, AreListedSortedWithoutWhatIsNoNetwork) {
  const std::vector<std::string> names = model_names();
  EXPECT_TRUE(has(names, "faces64-eps"));
  EXPECT_TRUE(has(names, "faces64-prior"));
  EXPECT_FALSE(has(names, "README"));
  EXPECT_FALSE(has(names, "images"));
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
}

TEST_F(Models, HaveFoldersBesideThem) {
  EXPECT_TRUE(fs::equivalent(find_in_models("images"), folder_.file("images")));
  const std::string error = error_of([] { find_in_models("no-such-images"); });
  EXPECT_EQ(error.find("no no-such-images came with eps; looked in " + folder_.file("")), 0)
      << error;
}

TEST_F(Models, ChosenByTheEnvironmentComeBeforeOurOwn) {
  const std::vector<std::string> with = model_folders();
  ::unsetenv("EPS_MODELS");
  const std::vector<std::string> without = model_folders();
  ASSERT_EQ(with.size(), without.size() + 1);
  EXPECT_EQ(with.front(), folder_.file(""));
  EXPECT_EQ(std::vector<std::string>(with.begin() + 1, with.end()), without);
  ::setenv("EPS_MODELS", "", 1);
  EXPECT_EQ(model_folders(), without);
}

// Of a program in build/release, whatever the library's place.
TEST_F(Models, AreLookedForAboveTheProgramAndInItsInstallation) {
  const fs::path program = fs::read_symlink("/proc/self/exe").parent_path();
  const std::vector<std::string> folders = model_folders();
  for (const char* place : {"models", "../share/eps/models", "../../share/eps/models"}) {
    const fs::path folder = (program / place).lexically_normal();
    EXPECT_TRUE(has(folders, folder.string()) || folder.parent_path() == "/") << folder;
  }
}

TEST_F(Models, ThatAreUnknownAreErrorsThatNameTheOthers) {
  const std::string unknown = error_of([] { find_model("faces64-esp"); });
  EXPECT_EQ(unknown.find("unknown network \"faces64-esp\" (did you mean \"faces64-eps\"?); "
                         "there are: "),
            0)
      << unknown;
  EXPECT_NE(unknown.find("faces64-eps, faces64-prior"), std::string::npos) << unknown;
  EXPECT_TRUE(unknown.ends_with("; or give a file")) << unknown;
  for (const char* name : {"./faces", "a.safetensors", "a.pkl", "a.pt"})
    EXPECT_EQ(error_of([&] { find_model(name); }), std::string(name) + ": no such file");
  EXPECT_EQ(error_of([] { find_model("faces64-eps.safetensors"); }),
            "faces64-eps.safetensors: no such file; one came with eps by the name of faces64-eps");
  EXPECT_EQ(error_of([&] { find_model(folder_.file("images")); }),
            folder_.file("images") + ": is a folder without config.json");
}

TEST_F(Models, WantTheFolderThatTheEnvironmentNames) {
  for (const char* wrong : {"nowhere", "README.md"}) {
    ::setenv("EPS_MODELS", folder_.file(wrong).c_str(), 1);
    EXPECT_EQ(error_of([] { find_model("faces64-eps"); }),
              "EPS_MODELS: there is no folder " + folder_.file(wrong));
    EXPECT_EQ(find_model("/dev/null"), "/dev/null");  // no folder is asked
  }
}

// What the verbs make of names.
class ModelNames : public ::testing::Test {
 protected:
  ModelNames() {
    ::setenv("EPS_MODELS", folder_.file("").c_str(), 1);
    const auto write =
        [&](const std::string& name, const NetworkInput& input, int64_t side, int64_t seen) {
          nets::UNetConfig config = small_ncsnpp();
          config.in_channels = 3 + side;
          write_checkpoint(
              folder_.file(name),
              {.network = wave_network(config),
               .input = input,
               .provenance = {.images_seen = seen, .tasks = {"motion_blur", "inpainting"}}});
        };
    write("small-prior.safetensors", NetworkInput::prior, 0, 0);
    write("small-eps.safetensors", NetworkInput::eps, 3, 2500000);
    write_safetensors(folder_.file("weights.safetensors"), {{{"w", at::ones({2})}}, {}});
  }
  ~ModelNames() override { ::unsetenv("EPS_MODELS"); }

  const Folder folder_;
};

TEST_F(ModelNames, AreListedWithWhatTheyAre) {
  const Outcome list = run_program(EPS_PROGRAM, "list models");
  EXPECT_EQ(list.status, 0);
  int64_t parameters = 0;
  const Checkpoint model = read_checkpoint(folder_.file("small-eps.safetensors"));
  for (const auto& [name, tensor] : model.network.parameters()) parameters += tensor.numel();
  const std::string line = fmt::format(
      "  small-eps            input eps, 3 x 8 x 8, {:.3g} million parameters, 2.5 million images "
      "seen; motion_blur, inpainting\n",
      static_cast<double>(parameters) / 1e6);
  EXPECT_NE(list.output.find(line), std::string::npos) << line << list.output;
  for (const char* other :
       {"  small-prior          input prior, 3 x 8 x 8, ", "  weights              1 tensors\n"})
    EXPECT_NE(list.output.find(other), std::string::npos) << other << list.output;
  EXPECT_NE(list.output.find("  folder               " + folder_.file("")), std::string::npos)
      << list.output;
  EXPECT_NE(run_program(EPS_PROGRAM, "list").output.find("small-eps"), std::string::npos);
}

TEST_F(ModelNames, WorkWhereAFileWould) {
  const std::string out = folder_.file("x.npy"), same = folder_.file("y.npy");
  const std::string rest = " --seeds 0-1 --steps 2 --device cpu --out ";
  const Outcome by_name = run_program(EPS_PROGRAM, "sample small-prior" + rest + out);
  EXPECT_EQ(by_name.status, 0) << by_name.output;
  const std::string file = folder_.file("small-prior.safetensors");
  EXPECT_EQ(run_program(EPS_PROGRAM, "sample " + file + rest + same).status, 0);
  EXPECT_EQ(get_bytes(out), get_bytes(same));

  EXPECT_EQ(
      run_program(EPS_PROGRAM, "convert --show small-eps").output,
      run_program(EPS_PROGRAM, "convert --show " + folder_.file("small-eps.safetensors")).output);
}

// Its configuration keeps the name, not the place the file has on this machine.
TEST_F(ModelNames, AreWhatATrainingRunMayStartFrom) {
  const training::TrainingConfig config =
      training::resolved({.input = "prior", .start = "small-prior"});
  Dataset data;
  data.images = at::zeros({1, 3, 8, 8}, at::kByte);
  const Checkpoint start = training::initial_network(config, data);
  EXPECT_EQ(start.network.config(), small_ncsnpp());
  EXPECT_NE(to_json(config).find("\"start\": \"small-prior\""), std::string::npos);
}

}  // namespace
}  // namespace eps
