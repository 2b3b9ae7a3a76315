// Forms with files, whole and broken.
#include "eps/serve/multipart.h"

#include <gtest/gtest.h>

#include "eps/base/printable.h"
#include "tests/files.h"

namespace eps::serve {
namespace {

const std::string kFile =
    "--b\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n"
    "Content-Type: image/png\r\n\r\n\r\n--c\r\n--\r\n--b--\r\nepilogue";

TEST(Multipart, HasTheBytesOfEachPart) {
  const auto parts = parse_multipart(kFile, "b");
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].name, "image");
  EXPECT_EQ(parts[0].file_name, "a.png");
  EXPECT_EQ(parts[0].content, "\r\n--c\r\n--");  // like a boundary, but none
  const auto two = parse_multipart(
      "--b\r\ncontent-disposition: form-data; name=\"x\"\r\n\r\n1\r\n"
      "--b\r\nContent-Disposition: form-data; name=\"y\"\r\n\r\n\r\n--b--\r\n",
      "b");
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].content, "1");
  EXPECT_EQ(two[1].content, "");
  EXPECT_TRUE(parse_multipart("--b--\r\n", "b").empty());
}

TEST(Multipart, NamesOfFilesLeadNowhere) {
  const auto name_of = [](const std::string& name) {
    return parse_multipart("--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"" + name +
                               "\"\r\n\r\n1\r\n--b--",
                           "b")[0]
        .file_name;
  };
  EXPECT_EQ(name_of("../../etc/passwd"), "passwd");
  EXPECT_EQ(name_of("C:\\x\\a.png"), "a.png");
  EXPECT_EQ(name_of(".."), "");
  EXPECT_EQ(name_of("a/"), "");
  EXPECT_EQ(name_of("a\tb.png"), "a_b.png");
  EXPECT_EQ(name_of(std::string(500, 'a') + ".png").size(), 120u);
}

TEST(Multipart, RefusesEveryBeginningOfAForm) {
  const size_t whole = kFile.find("\r\nepilogue");
  for (size_t size = 0; size < whole; ++size)
    EXPECT_THROW(parse_multipart(kFile.substr(0, size), "b"), Error)
        << printable(kFile.substr(0, size));
}

TEST(Multipart, RefusesOtherForms) {
  const std::string part = "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n";
  EXPECT_EQ(error_of([&] { parse_multipart(part + part + "--b--", "b"); }),
            "the form: two parts have the name 'x'");
  EXPECT_EQ(error_of([&] { parse_multipart(part + "--b--", "c"); }),
            "the form: it does not begin with its boundary");
  EXPECT_EQ(error_of([&] { parse_multipart("--b\r\nA: b\r\n\r\n1\r\n--b--", "b"); }),
            "the form: a part has no name");
  EXPECT_EQ(error_of([&] { parse_multipart("--b\r\n" + std::string(5000, 'a'), "b"); }),
            "the form: the head of a part is broken, or too long");
  std::string many;
  for (int k = 0; k < 20; ++k)
    many += "--b\r\nContent-Disposition: form-data; name=\"" + std::to_string(k) + "\"\r\n\r\n\r\n";
  EXPECT_EQ(error_of([&] { parse_multipart(many + "--b--", "b"); }),
            "the form: more than 16 parts");
}

TEST(Multipart, BoundaryIsInTheContentType) {
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(boundary_of("Multipart/Form-Data; charset=x; boundary=\"a b\"; q=1"), "a b");
  EXPECT_EQ(boundary_of("multipart/form-data"), "");
  EXPECT_EQ(boundary_of("text/plain; boundary=abc"), "");
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=" + std::string(71, 'a')), "");
}

}  // namespace
}  // namespace eps::serve
