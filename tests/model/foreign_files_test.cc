// The files that people have, as torch itself writes them, where a Python with torch is at hand.
#include "eps/model/bundled.h"
#include "eps/model/checkpoint.h"
#include "eps/model/preconditioned_query.h"
#include "tests/model/foreign_networks.h"
#include "tests/program.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

TEST(ForeignFiles, OfTorchGiveTheSameNetworks) {
  std::string python;
  for (const char* candidate : {"python3", "/usr/bin/python3"})
    if (python.empty() && run_program(candidate, "-c 'import torch, numpy'").status == 0)
      python = candidate;
  if (python.empty()) GTEST_SKIP() << "no python3 with torch (Debian: python3-torch)";
  const Folder folder;
  const Outcome written = run_program(
      python, EPS_SOURCE_DIR "/tests/reference/foreign_networks.py --files " + folder.file(""));
  ASSERT_EQ(written.status, 0) << written.output;
  const std::string adm = "guided_diffusion:file=", pipeline = folder.file("pipeline");
  for (const auto& [name, text] :
       {std::pair{"adm_classes", adm + folder.file("adm_classes.pt") + ",head_channels=16"},
        {"adm_ffhq", adm + folder.file("adm_ffhq.pt") + ",head_channels=8,size=16"},
        {"unet2d_old", pipeline},
        {"unet2d_old", pipeline + "/unet"},
        {"unet2d_old", "diffusers:file=" + pipeline}}) {
    const Checkpoint model = load_network(find_model(text));
    const auto answers = foreign_network(name).answers;
    Conditioning conditioning;
    if (answers.contains("labels")) conditioning.labels = answers.at("labels");
    const Tensor mean = denoise(
        model.network, model.preconditioning, answers.at("x"), answers.at("sigma"), conditioning);
    EXPECT_LT(relative_error(mean, answers.at("D")), 1e-5) << text;
  }
}

}  // namespace
}  // namespace eps
