// .npy files written piece by piece, and mapped instead of read.
#include "eps/io/npy.h"
#include "tests/files.h"

namespace eps {
namespace {

TEST(Npy, IsWrittenPieceByPieceAsInOneGo) {
  const Folder folder;
  const Tensor array = at::arange(24, at::kFloat).reshape({4, 3, 2});
  NpyWriter writer(folder.file("parts.npy"), at::kFloat, {4, 3, 2});
  writer.append(array.slice(0, 0, 1));
  writer.append(array.slice(0, 1, 4).to(at::kDouble));  // in the file's own dtype
  EXPECT_FALSE(std::filesystem::exists(folder.file("parts.npy")));
  writer.finish();
  write_npy(folder.file("whole.npy"), array);
  EXPECT_EQ(get_bytes(folder.file("parts.npy")), get_bytes(folder.file("whole.npy")));
}

TEST(Npy, TooFewOrTooManyNumbersLeaveNoFile) {
  const Folder folder;
  const std::string path = folder.file("a.npy");
  {
    NpyWriter writer(path, at::kFloat, {4});
    writer.append(at::zeros({3}));
    EXPECT_EQ(error_of([&] { writer.finish(); }), path + ": 3 numbers for an array of 4");
    EXPECT_EQ(error_of([&] { writer.append(at::zeros({2})); }),
              path + ": 5 numbers for an array of 4");
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(Npy, MappedArraysAreTheSame) {
  const Folder folder;
  const std::string path = folder.file("a.npy");
  for (const auto dtype : {at::kFloat, at::kDouble, at::kByte, at::kHalf, at::kLong}) {
    const Tensor array = at::arange(30).reshape({5, 3, 2}).to(dtype);
    write_npy(path, array);
    EXPECT_TRUE(identical(map_npy(path), array));
  }
  EXPECT_THROW(map_npy(folder.file("none.npy")), Error);
  put_bytes(path, "");
  EXPECT_THROW(map_npy(path), Error);
  write_npy(path, at::zeros({6}));
  put_bytes(path, get_bytes(path).substr(0, 140));  // cut short
  EXPECT_THROW(map_npy(path), Error);
}

}  // namespace
}  // namespace eps
