// What tests about files share: a folder of their own, and the message of an error.
#pragma once

#include <ftw.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "eps/core.h"

namespace eps {

// An empty folder, removed with everything in it at the end of the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "eps_test_XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a folder in " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  // Not std::filesystem::remove_all: PyTorch's libraries export a broken one of that name.
  ~Folder() {
    const auto remove_entry = [](const char* path, const struct stat*, int, struct FTW*) {
      return ::remove(path);
    };
    ::nftw(path_.c_str(), remove_entry, 16, FTW_DEPTH | FTW_PHYS);
  }

  std::string file(const std::string& name) const { return (path_ / name).string(); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

 private:
  std::filesystem::path path_;
};

// Independent of the functions under test.
inline void put_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline std::string get_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

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
inline ::testing::AssertionResult identical(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    return ::testing::AssertionFailure()
           << at::toString(a.scalar_type()) << " " << to_string(a.sizes()) << " against "
           << at::toString(b.scalar_type()) << " " << to_string(b.sizes());
  }
  if (a.equal(b)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "values differ";
}

}  // namespace eps
