// Checkpoints written by torch itself, where a Python with torch is at hand.
#include <nlohmann/json.hpp>

#include "eps/io/file.h"
#include "eps/io/torch/any_checkpoint.h"
#include "eps/io/torch/torch_storage.h"
#include "eps/model/checkpoint.h"
#include "eps/model/preconditioned_query.h"
#include "tests/io/torch/torch_bytes.h"
#include "tests/program.h"
#include "tests/small_networks.h"

namespace eps {
namespace {

using nlohmann::json;

// The first Python that has torch, or nothing.
std::string python_with_torch() {
  for (const char* python : {"python3", "/usr/bin/python3"}) {
    if (run_program(python, "-c 'import torch'").status == 0) return python;
  }
  return "";
}

void expect_tensor(const Tensor& tensor, const json& expected) {
  EXPECT_EQ(dtype_name(tensor.scalar_type()), expected["dtype"].get<std::string>());
  EXPECT_EQ(tensor.sizes(), expected["shape"].get<Shape>());
  const auto values = expected["values"].get<std::vector<double>>();
  EXPECT_TRUE(tensor.to(at::kDouble).flatten().equal(at::tensor(values, at::kDouble)));
}

void expect_file(const std::string& path, const json& expected) {
  const TorchFile file = parse_torch_file(read_file(path), path);
  EXPECT_EQ(file.kind, expected["kind"].get<std::string>());
  EXPECT_EQ(json::parse(file.config), expected["config"]);
  EXPECT_EQ(file.tensors.size(), expected["tensors"].size());
  for (const auto& [name, tensor] : expected["tensors"].items()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(file.tensors.contains(name));
    expect_tensor(file.tensors.at(name), tensor);
  }
}

class TorchPython : public ::testing::Test {
 protected:
  void SetUp() override {
    if (python_.empty()) GTEST_SKIP() << "no python3 with torch (Debian: python3-torch)";
  }
  Outcome write_checkpoints(const Folder& folder) {
    return run_program(python_,
                       EPS_SOURCE_DIR
                           "/tests/io/torch/write_checkpoints.py"
                           " " +
                           folder.file(""));
  }

 private:
  const std::string python_ = python_with_torch();
};

TEST_F(TorchPython, WhatTorchWritesIsReadTheSame) {
  const Folder folder;
  const Outcome outcome = write_checkpoints(folder);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const json expected = json::parse(get_bytes(folder.file("expected.json")));
  ASSERT_EQ(expected.size(), 20u);
  for (const auto& [name, content] : expected.items()) {
    SCOPED_TRACE(name);
    expect_file(folder.file(name), content);
  }
}

TEST_F(TorchPython, ASnapshotsNetworkAnswersToTheBit) {
  const c10::NoGradGuard no_gradients;
  const Folder folder;
  for (const auto& [name, config] : small_edm_networks())
    write_checkpoint(folder.file(name + ".safetensors"), {.network = wave_network(config)});
  const Outcome outcome = write_checkpoints(folder);
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  for (const auto& [name, config] : small_edm_networks()) {
    const std::string path = folder.file(name + ".pkl");
    const Safetensors file = read_any_checkpoint(path);
    EXPECT_EQ(file.metadata.at("source"), "edm-snapshot");
    const Checkpoint read = checkpoint_from(file, path);
    EXPECT_EQ(read.network.config(), config) << name;
    const Tensor x = waves({2, 3, 8, 8}), sigma = at::tensor({0.3, 20.0}, at::kDouble);
    const Conditioning labels{.labels = at::eye(2, std::max<int64_t>(config.label_dim, 2))};
    EXPECT_TRUE(identical(denoise(read.network, read.preconditioning, x, sigma, labels),
                          denoise(wave_network(config), {}, x, sigma, labels)))
        << name;
  }
}

}  // namespace
}  // namespace eps
