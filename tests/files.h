// Helpers for tests: a temporary folder, bytes of files, messages of errors, equality of tensors.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>

#include "eps/base/core.h"

namespace eps {

// A `Folder` is an empty folder that its destructor removes with all its contents.
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

// put_bytes() and get_bytes() are independent of the functions under test.
void put_bytes(const std::string& path, std::string_view bytes);
std::string get_bytes(const std::string& path);

// Returns the message of the eps::Error that the call must throw.
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

// Succeeds if dtype, shape and bits agree.
::testing::AssertionResult identical(const Tensor& a, const Tensor& b);

}  // namespace eps
