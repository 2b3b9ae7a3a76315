// .npy files: known bytes, round trips, numpy itself, and every way to be malformed.
#include "eps/io/npy.h"

#include <cstdlib>

#include "tests/files.h"

namespace eps {
namespace {

using ::testing::TestWithParam;

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  bytes += static_cast<char>(header.size() % 256);
  bytes += static_cast<char>(header.size() / 256);
  if (version > 1) bytes += std::string(2, '\0');
  return bytes + header + data;
}

std::string array(const std::string& descr, const std::string& shape, const std::string& data) {
  return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n",
             data);
}

std::string raw(std::initializer_list<int> bytes) { return {bytes.begin(), bytes.end()}; }

const at::ScalarType kDtypes[] = {at::kHalf,
                                  at::kFloat,
                                  at::kDouble,
                                  at::kChar,
                                  at::kShort,
                                  at::kInt,
                                  at::kLong,
                                  at::kByte,
                                  at::kBool};

// Values that differ from one another in every dtype but bool, some of them negative.
Tensor example(const Shape& shape, at::ScalarType dtype) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  const Tensor numbers = at::arange(count, at::kLong) - (dtype == at::kByte ? 0 : 5);
  return numbers.reshape(shape).to(dtype);
}

TEST(Npy, RoundTripsEveryDtypeAndShape) {
  const Folder folder;
  for (const auto dtype : kDtypes) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{2, 3, 4}, Shape{3, 0, 2}}) {
      const Tensor tensor = example(shape, dtype);
      write_npy(folder.file("a.npy"), tensor);
      EXPECT_TRUE(identical(read_npy(folder.file("a.npy")), tensor));
    }
  }
}

TEST(Npy, WritesANonContiguousTensorInItsOwnOrder) {
  const Folder folder;
  const Tensor tensor = example({4, 6}, at::kFloat).t().slice(0, 1, 6, 2);
  ASSERT_FALSE(tensor.is_contiguous());
  write_npy(folder.file("a.npy"), tensor);
  EXPECT_TRUE(identical(read_npy(folder.file("a.npy")), tensor.contiguous()));
}

TEST(Npy, WritesTheBytesThatNumpyWrites) {
  const Folder folder;
  write_npy(folder.file("a.npy"), at::tensor({1.5f, -2.0f}).reshape({2, 1}));
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }";
  EXPECT_EQ(get_bytes(folder.file("a.npy")),
            std::string("\x93NUMPY\1\0\x76\0", 10) + header +
                std::string(117 - header.size(), ' ') + "\n" +
                raw({0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0}));
}

TEST(Npy, ReadsKnownBytes) {
  const Tensor two = at::tensor({1.5f, -2.0f});
  const std::string little = raw({0, 0, 0xc0, 0x3f, 0, 0, 0, 0xc0});
  EXPECT_TRUE(identical(parse_npy(array("<f4", "(2,)", little), "a"), two));
  const std::string big = raw({0x3f, 0xc0, 0, 0, 0xc0, 0, 0, 0});
  EXPECT_TRUE(identical(parse_npy(array(">f4", "(2,)", big), "a"), two));
  EXPECT_TRUE(identical(parse_npy(array(">i2", "(1, 1L)", raw({1, 2})), "a"),
                        at::full({1, 1}, 0x102, at::kShort)));
  EXPECT_TRUE(
      identical(parse_npy(array("|b1", "()", raw({2})), "a"), at::scalar_tensor(true, at::kBool)));
}

TEST(Npy, ReadsAllThreeFormats) {
  const std::string header = "{\"shape\": (1,), \"fortran_order\": False, \"descr\": \"|u1\"}\n";
  for (const char version : {1, 2, 3}) {
    EXPECT_TRUE(identical(parse_npy(npy(header, "A", version), "a"), at::full({1}, 65, at::kByte)));
  }
}

TEST(Npy, ReadsFortranOrder) {
  const std::string header = "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }";
  const Tensor tensor = parse_npy(npy(header, raw({1, 4, 2, 5, 3, 6})), "a");
  EXPECT_TRUE(identical(tensor, at::arange(1, 7, at::kChar).reshape({2, 3})));
  EXPECT_TRUE(tensor.is_contiguous());
}

TEST(Npy, UnsignedNumbersBecomeWiderSignedOnes) {
  EXPECT_TRUE(identical(parse_npy(array("<u2", "(1,)", raw({0xff, 0xff})), "a"),
                        at::full({1}, 65535, at::kInt)));
  EXPECT_TRUE(identical(parse_npy(array("<u4", "(1,)", raw({0xfe, 0xff, 0xff, 0xff})), "a"),
                        at::full({1}, 4294967294, at::kLong)));
  EXPECT_TRUE(identical(parse_npy(array("<u8", "(1,)", raw({7, 0, 0, 0, 0, 0, 0, 0})), "a"),
                        at::full({1}, 7, at::kLong)));
  EXPECT_EQ(error_of([] { parse_npy(array("<u8", "(2,)", std::string(16, '\xff')), "a.npy"); }),
            "a.npy: 'u8' numbers beyond int64 (2^63 - 1), 2 of them");
}

// 1 - 2i and 3 + 0i; 2 x 1 in Fortran order is the same row of numbers.
TEST(Npy, ComplexNumbersBecomePairs) {
  const std::string little = raw({0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0, 0, 0, 0x40, 0x40, 0, 0, 0, 0}),
                    big = raw({0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0, 0x40, 0x40, 0, 0, 0, 0, 0, 0});
  const Tensor pairs = at::tensor({1.0f, -2.0f, 3.0f, 0.0f}).view({2, 2});
  EXPECT_TRUE(identical(parse_npy(array("<c8", "(2,)", little), "a"), pairs));
  EXPECT_TRUE(identical(parse_npy(array(">c8", "(2,)", big), "a"), pairs));
  EXPECT_TRUE(identical(parse_npy(array("<c16", "(1,)", std::string(16, '\0')), "a"),
                        at::zeros({1, 2}, at::kDouble)));
  const std::string fortran =
      npy("{'descr': '<c8', 'fortran_order': True, 'shape': (1, 2), }\n", little);
  EXPECT_TRUE(identical(parse_npy(fortran, "a"), pairs.view({1, 2, 2})));
  const std::string four =
      npy("{'descr': '<c8', 'fortran_order': True, 'shape': (2, 2), }\n", little + big);
  EXPECT_TRUE(identical(parse_npy(four, "a").select(1, 0), pairs));  // its first column
  EXPECT_NE(
      error_of([&] { parse_npy(array("<c8", "(3,)", little), "a"); }).find("expected 24 bytes"),
      std::string::npos);
  const Folder folder;
  put_bytes(folder.file("c.npy"), array("<c8", "(2,)", little));
  EXPECT_TRUE(identical(map_npy(folder.file("c.npy")), pairs));
}

struct Malformed {
  const char* what;
  std::string bytes, message;
};

class MalformedNpy : public TestWithParam<Malformed> {};

TEST_P(MalformedNpy, IsRefusedWithItsNumbers) {
  EXPECT_EQ(error_of([] { parse_npy(GetParam().bytes, "a.npy"); }), "a.npy: " + GetParam().message);
}

const std::string kSorts =
    "' is not read, only f2 f4 f8, c8 c16, i1 i2 i4 i8, u1 u2 u4 u8 and b1 (no strings, objects or "
    "structures)";

INSTANTIATE_TEST_SUITE_P(
    Npy,
    MalformedNpy,
    ::testing::Values(
        Malformed{"Empty", "", "not a .npy file (starts with nothing: the file is empty)"},
        Malformed{"BadMagic", "GIF89a\1", "not a .npy file (starts with \"GIF89a\\x01\")"},
        Malformed{"NoVersion", "\x93NUMPY\1", "the .npy file ends inside its magic bytes"},
        Malformed{
            "Version", npy("{}", "", 4), ".npy format 4.0 is not read, only 1.0, 2.0 and 3.0"},
        Malformed{"NoLength",
                  std::string("\x93NUMPY\2\0\0", 9),
                  "the .npy file ends inside its header length: expected at least 12 bytes, "
                  "found 9"},
        Malformed{"HeaderBehindFile",
                  std::string("\x93NUMPY\1\0\xff\xff{}", 12),
                  "the .npy header ends behind the file: expected 65535 bytes of header, found 2"},
        Malformed{"HeaderNotEnding",
                  npy("{'descr': '<f4'", ""),
                  "'}' is missing in the .npy header, found its end"},
        Malformed{"StringNotEnding",
                  npy("{'descr': '<f4", ""),
                  "a string is missing in the .npy header, found \"'<f4\""},
        Malformed{"KeysMissing",
                  npy("{'descr': '<f4', 'shape': (1,)}", ""),
                  "the .npy header must hold 'descr', 'fortran_order' and 'shape'"},
        Malformed{"KeyTwice",
                  npy("{'descr': '<f4', 'descr': '<f4'}", ""),
                  "'descr' appears twice in the .npy header"},
        Malformed{"KeyUnknown", npy("{'x': 1}", ""), "unknown key 'x' in the .npy header"},
        Malformed{"NotBoolean",
                  npy("{'fortran_order': 1}", ""),
                  "True or False is missing in the .npy header, found \"1}\""},
        Malformed{
            "StrayText", npy("{}  x", ""), "the .npy header goes on behind its '}' with \"x\""},
        Malformed{"ShapeOfWords",
                  array("<f4", "(x,)", ""),
                  "dimension missing in the .npy header, at \"x,), }\\x0a\""},
        Malformed{"DimensionTooLong",
                  array("<f4", "(9223372036854775808,)", ""),
                  "dimension beyond 2^63 in the .npy header, at \"92233720\""},
        Malformed{"Truncated",
                  array("<f4", "(2, 3)", std::string(23, 'x')),
                  "'<f4' array of shape 2 x 3: expected 24 bytes of data, found 23"},
        Malformed{"Oversized",
                  array("<f4", "(2, 3)", std::string(25, 'x')),
                  "'<f4' array of shape 2 x 3: expected 24 bytes of data, found 25"},
        Malformed{"Huge",
                  array("<f8", "(1000000, 1000000, 1000)", ""),
                  "'<f8' array of shape 1000000 x 1000000 x 1000: expected 8000000000000000 bytes "
                  "of data, found 0"},
        Malformed{"Overflow",
                  array("<f4", "(4294967296, 4294967296)", ""),
                  "the shape 4294967296 x 4294967296 is too large: its size in bytes exceeds 2^63"},
        Malformed{"OverflowTimesZero",
                  array("<f4", "(0, 4294967296, 4294967296)", ""),
                  "the shape 0 x 4294967296 x 4294967296 is too large: its size in bytes exceeds "
                  "2^63"},
        Malformed{"Negative",
                  array("<f4", "(-1, -4)", std::string(16, 'x')),
                  "negative dimension in the shape -1 x -4"},
        Malformed{"Complex", array("<c32", "()", std::string(8, 'x')), "dtype '<c32" + kSorts},
        Malformed{"Object", array("|O", "()", ""), "dtype '|O" + kSorts},
        Malformed{"Text", array("<U3", "()", std::string(12, 'x')), "dtype '<U3" + kSorts},
        Malformed{"NoByteOrder", array("f4", "()", "xxxx"), "dtype 'f4" + kSorts},
        Malformed{"Structured",
                  npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}", "xxxx"),
                  "structured dtypes are not read, a plain number type such as '<f4' is wanted"}),
    [](const auto& info) { return info.param.what; });

TEST(Npy, AtMost64DimensionsAreRead) {
  std::string shape;
  for (int i = 0; i < 64; ++i) shape += "1,";
  EXPECT_EQ(parse_npy(array("|u1", "(" + shape + ")", "x"), "a.npy").dim(), 64);
  EXPECT_EQ(error_of([&] { parse_npy(array("|u1", "(" + shape + "1)", "x"), "a.npy"); }),
            "a.npy: 65 dimensions, at most 64 are possible");
}

TEST(Npy, ADtypeThatTheFormatLacksIsRefused) {
  const Folder folder;
  const std::string path = folder.file("a.npy");
  EXPECT_EQ(error_of([&] { write_npy(path, at::zeros({1}, at::kBFloat16)); }),
            path + ": a .npy file cannot hold the dtype BFloat16, convert it first");
  EXPECT_EQ(error_of([&] { write_npy(path, Tensor()); }), path + ": there is no tensor to write");
  EXPECT_TRUE(folder.names().empty());
}

// The system's python3, when it has numpy; EPS_PYTHON names another one.
class Numpy : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!python("import numpy")) GTEST_SKIP() << "there is no python3 with numpy here";
  }

  bool python(const std::string& program) const {
    const char* chosen = std::getenv("EPS_PYTHON");
    put_bytes(folder_.file("program.py"), program);
    const std::string command = std::string(chosen ? chosen : "/usr/bin/python3") + " " +
                                folder_.file("program.py") + " >/dev/null 2>&1";
    return std::system(command.c_str()) == 0;
  }

  const Folder folder_;
};

// What the numpy program and example() agree on.
const std::string kExample = R"(
import numpy as np, os
os.chdir(os.path.dirname(os.path.abspath(__file__)))
def example(shape, dtype):
    numbers = np.arange(int(np.prod(shape))) - (0 if dtype == 'u1' else 5)
    return numbers.reshape(shape).astype(dtype)
dtypes = ['f2', 'f4', 'f8', 'i1', 'i2', 'i4', 'i8', 'u1', '?']
shapes = [(), (7,), (2, 3, 4), (3, 0, 2), (12345, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1)]
)";

const Shape kShapes[] = {
    {}, {7}, {2, 3, 4}, {3, 0, 2}, {12345, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}};

TEST_F(Numpy, ReadsWhatNumpyWrites) {
  ASSERT_TRUE(python(kExample + R"(
for d, dtype in enumerate(dtypes):
    for s, shape in enumerate(shapes):
        array = example(shape, dtype)
        np.save(f'c_{d}_{s}.npy', array)
        np.save(f'f_{d}_{s}.npy', np.asfortranarray(array) if shape else array)
        np.save(f'b_{d}_{s}.npy', array.astype(array.dtype.newbyteorder('>')))
        for version in [(2, 0), (3, 0)]:
            with open(f'{version[0]}_{d}_{s}.npy', 'wb') as file:
                np.lib.format.write_array(file, array, version)
)"));
  for (size_t d = 0; d < std::size(kDtypes); ++d) {
    for (size_t s = 0; s < std::size(kShapes); ++s) {
      for (const char* kind : {"c", "f", "b", "2", "3"}) {
        const std::string file =
            std::string(kind) + "_" + std::to_string(d) + "_" + std::to_string(s) + ".npy";
        EXPECT_TRUE(identical(read_npy(folder_.file(file)), example(kShapes[s], kDtypes[d])))
            << file;
      }
    }
  }
}

TEST_F(Numpy, NumpyReadsWhatIsWrittenAndWouldWriteTheSameBytes) {
  for (size_t d = 0; d < std::size(kDtypes); ++d) {
    for (size_t s = 0; s < std::size(kShapes); ++s) {
      const std::string file = std::to_string(d) + "_" + std::to_string(s) + ".npy";
      write_npy(folder_.file(file), example(kShapes[s], kDtypes[d]));
    }
  }
  EXPECT_TRUE(python(kExample + R"(
import io
for d, dtype in enumerate(dtypes):
    for s, shape in enumerate(shapes):
        array = np.load(f'{d}_{s}.npy', allow_pickle=False)
        wanted = example(shape, dtype)
        assert array.dtype == wanted.dtype and array.shape == shape and (array == wanted).all()
        own = io.BytesIO()
        np.save(own, wanted)
        assert own.getvalue() == open(f'{d}_{s}.npy', 'rb').read(), (dtype, shape)
)"));
}

}  // namespace
}  // namespace eps
