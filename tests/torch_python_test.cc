// Checkpoints written by torch itself, where a Python with torch is at hand.
#include <nlohmann/json.hpp>

#include "eps/io/torch_storage.h"
#include "tests/program.h"
#include "tests/torch_bytes.h"

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
  const TorchFile file = read_torch_file(path);
  EXPECT_EQ(file.kind, expected["kind"].get<std::string>());
  EXPECT_EQ(json::parse(file.config), expected["config"]);
  EXPECT_EQ(file.tensors.size(), expected["tensors"].size());
  for (const auto& [name, tensor] : expected["tensors"].items()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(file.tensors.contains(name));
    expect_tensor(file.tensors.at(name), tensor);
  }
}

TEST(TorchPython, WhatTorchWritesIsReadTheSame) {
  const std::string python = python_with_torch();
  if (python.empty()) GTEST_SKIP() << "no python3 with torch (Debian: python3-torch)";
  const Folder folder;
  const Outcome outcome = run_program(python, EPS_WRITE_CHECKPOINTS " " + folder.file(""));
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const json expected = json::parse(get_bytes(folder.file("expected.json")));
  ASSERT_EQ(expected.size(), 20u);
  for (const auto& [name, content] : expected.items()) {
    SCOPED_TRACE(name);
    expect_file(folder.file(name), content);
  }
}

}  // namespace
}  // namespace eps
