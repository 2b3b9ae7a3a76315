// Arrays by extension, and the check for values that are not finite.
#include "eps/io/array.h"

#include <limits>

#include "eps/io/npy.h"
#include "eps/io/safetensors.h"
#include "tests/files.h"

namespace eps {
namespace {

TEST(Array, TheExtensionChoosesTheFormat) {
  const Folder folder;
  const Tensor tensor = at::arange(6, at::kFloat).reshape({2, 3});
  write_array(folder.file("a.npy"), tensor);
  EXPECT_TRUE(identical(read_npy(folder.file("a.npy")), tensor));
  EXPECT_TRUE(identical(read_array(folder.file("a.npy")), tensor));
  write_array(folder.file("a.safetensors"), tensor);
  EXPECT_TRUE(
      identical(read_safetensors(folder.file("a.safetensors")).tensors.at("array"), tensor));
  EXPECT_TRUE(identical(read_array(folder.file("a.safetensors")), tensor));
  write_array(folder.file("b.safetensors#x"), tensor);
  EXPECT_TRUE(identical(read_safetensors(folder.file("b.safetensors")).tensors.at("x"), tensor));
}

TEST(Array, OneOfSeveralTensorsIsNamed) {
  const Folder folder;
  const std::string path = folder.file("a.safetensors");
  write_safetensors(path, {{{"x", at::zeros({1})}, {"y", at::ones({2})}}, {}});
  EXPECT_TRUE(identical(read_array(path + "#y"), at::ones({2})));
  EXPECT_EQ(error_of([&] { read_array(path); }),
            path + ": holds 2 tensors, one is wanted; choose with " + path + "#name: x, y");
  EXPECT_EQ(error_of([&] { read_array(path + "#z"); }), path + ": has no tensor 'z', only x, y");
  EXPECT_EQ(error_of([&] { read_array(path + "#"); }),
            path + "#: a tensor name is wanted behind '#'");
}

TEST(Array, AnUnknownExtensionIsRefusedWithTheKnownOnes) {
  const std::string wanted =
      "a.mat: unknown kind of array file, the known ones are .npy, .safetensors and "
      ".safetensors#name";
  EXPECT_EQ(error_of([] { read_array("a.mat"); }), wanted);
  EXPECT_EQ(error_of([] { write_array("a.mat", at::zeros({1})); }), wanted);
  for (const char* path : {"a.npy", "a#1/b.npy", "a.safetensors", "a.safetensors#b"})
    EXPECT_TRUE(is_array_path(path)) << path;
  for (const char* path : {"a.mat", "a.npy#b", "npy", "a.safetensor"})
    EXPECT_FALSE(is_array_path(path)) << path;
}

TEST(Array, ValuesThatAreNotFiniteAreCountedAndPlaced) {
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor x = at::zeros({2, 3, 6, 8});
  require_finite(x, "x.npy");
  require_finite(at::zeros({2, 0}), "x.npy");
  require_finite(at::full({2}, 7, at::kLong), "x.npy");
  x[1][2][5][7] = infinity;
  EXPECT_EQ(error_of([&] { require_finite(x, "x.npy"); }),
            "x.npy: 1 value is not finite, at [1, 2, 5, 7]");
  x[0][1][5][7] = -infinity;
  x[1][0][0][0] = std::numeric_limits<double>::quiet_NaN();
  for (const auto dtype : {at::kHalf, at::kFloat, at::kDouble}) {
    EXPECT_EQ(error_of([&] { require_finite(x.to(dtype), "x.npy"); }),
              "x.npy: 3 values are not finite, the first at [0, 1, 5, 7]");
  }
}

}  // namespace
}  // namespace eps
