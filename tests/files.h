// What tests about files share: a folder of their own, and the message of an error.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "eps/base/core.h"

namespace eps {

// An empty folder, removed with everything in it at the end of the test.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::vector<std::string> names() const;

 private:
  std::filesystem::path path_;
};

// Independent of the functions under test.
void put_bytes(const std::string& path, std::string_view bytes);
std::string get_bytes(const std::string& path);

// The message of the eps::Error that the call must throw.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no eps::Error was thrown";
  return "";
}

// Same dtype, shape and bits.
::testing::AssertionResult identical(const Tensor& a, const Tensor& b);

}  // namespace eps
