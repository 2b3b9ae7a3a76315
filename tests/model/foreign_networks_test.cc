// Networks of guided-diffusion and diffusers: the same answers as from their formulas, and words
// about what is not read.
#include "tests/model/foreign_networks.h"

#include "eps/model/checkpoint.h"
#include "eps/model/foreign/families.h"
#include "eps/model/preconditioned_query.h"
#include "tests/program.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

double error_against(const Checkpoint& model, const std::map<std::string, Tensor>& answers) {
  Conditioning conditioning;
  if (answers.contains("labels")) conditioning.labels = answers.at("labels");
  const Tensor mean = denoise(
      model.network, model.preconditioning, answers.at("x"), answers.at("sigma"), conditioning);
  return relative_error(mean.detach(), answers.at("D"));
}

class Foreign : public testing::TestWithParam<const char*> {};

TEST_P(Foreign, AnswersAsItsFormulasDo) {
  const Folder folder;
  const ForeignNetwork network = foreign_network(GetParam());
  Checkpoint model = load_network(write_foreign(folder, network));
  EXPECT_LT(error_against(model, network.answers), 1e-5);
  model.network.requires_grad(true);  // other kernels
  EXPECT_LT(error_against(model, network.answers), 1e-5);
}

TEST_P(Foreign, IsTheSameAfterItWasWrittenAsOurs) {
  const Folder folder;
  const ForeignNetwork network = foreign_network(GetParam());
  const Checkpoint model = load_network(write_foreign(folder, network));
  write_checkpoint(folder.file("ours.safetensors"), model);
  const Checkpoint again = read_checkpoint(folder.file("ours.safetensors"));
  EXPECT_EQ(again.network.config(), model.network.config());
  EXPECT_EQ(again.preconditioning, model.preconditioning);
  const Tensor &x = network.answers.at("x"), &sigma = network.answers.at("sigma");
  EXPECT_TRUE(denoise(again.network, again.preconditioning, x, sigma)
                  .equal(denoise(model.network, model.preconditioning, x, sigma)));
}

INSTANTIATE_TEST_SUITE_P(Networks,
                         Foreign,
                         ::testing::Values("adm_classes",
                                           "adm_ffhq",
                                           "adm_new_order",
                                           "adm_convolutions",
                                           "unet2d_old",
                                           "unet2d_new",
                                           "unet2d_v"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace eps
