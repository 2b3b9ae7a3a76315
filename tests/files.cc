// Helpers for tests: files, messages, equality of tensors.
#include "tests/files.h"

#include <fstream>
#include <iterator>

#include "eps/io/file.h"

namespace eps {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "eps_test_XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a folder in " + name);
  path_ = name;
}

Folder::~Folder() { remove_tree(path_.string()); }

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

void put_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string get_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

::testing::AssertionResult identical(const Tensor& a, const Tensor& b) {
  if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) {
    return ::testing::AssertionFailure()
           << at::toString(a.scalar_type()) << " " << to_string(a.sizes()) << " against "
           << at::toString(b.scalar_type()) << " " << to_string(b.sizes());
  }
  if (a.equal(b)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "values differ";
}

}  // namespace eps
