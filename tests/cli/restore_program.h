// eps restore with small networks and measurements, as a user calls it.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "eps/io/file.h"
#include "eps/io/images/image.h"
#include "eps/io/npy.h"
#include "tests/program.h"
#include "tests/small_checkpoints.h"

namespace eps {

// A `RestoreProgram` runs eps restore with networks for 3 x 8 x 8 images that have learnt nothing,
// and has measurements for them.
class RestoreProgram : public testing::Test {
 protected:
  RestoreProgram() {
    write_small_prior(prior_);
    write_small_eps(
        eps_,
        {.tasks = {"inpaint_random:missing=0.5..0.7", "blur_motion"}, .sigma_y = "0.01..0.2"});
    const Tensor image = (0.3 * Rng(1).normal({3, 8, 8})).clamp(-1, 1);
    write_npy(image_, image.to(at::kFloat));
    write_png(picture_, to_uint8(image));
    const Tensor mask = (Rng(2).uniform({8, 8}) < 0.7).to(at::kByte);
    write_png(folder_.file("a mask, of mine.png"), 255 * mask);
    write_npy(grey_, image.mean(0).to(at::kFloat));
  }

  Outcome run(const std::string& rest, const std::string& model) const {
    return run_program(
        EPS_PROGRAM,
        "restore --model " + model + " --device cpu --threads 1 --out " + out_ + " " + rest);
  }
  // Two steps of two samples.
  Outcome run(const std::string& rest) const { return run(rest + " --steps 2 --samples 2", eps_); }
  void says(const Outcome& outcome, const std::string& words) const {
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(words), std::string::npos) << outcome.output;
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(out_));
  }
  nlohmann::json words() const { return nlohmann::json::parse(get_bytes(out_ + "/restore.json")); }
  Tensor array(const std::string& name) const { return read_npy(out_ + "/" + name + ".npy"); }
  bool exists(const std::string& name) const { return std::filesystem::exists(out_ + "/" + name); }

  const Folder folder_;
  const std::string prior_ = folder_.file("prior.safetensors"),
                    eps_ = folder_.file("eps.safetensors");
  const std::string image_ = folder_.file("image.npy"), picture_ = folder_.file("picture.png"),
                    mask_ = "'" + folder_.file("a mask, of mine.png") + "'",
                    grey_ = folder_.file("grey.npy"), out_ = folder_.file("out");
};

}  // namespace eps
