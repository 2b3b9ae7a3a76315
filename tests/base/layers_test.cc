// The shape of the source tree: rooms that include only rooms above them, and folders whose files
// can be compiled as one.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "tests/files.h"

namespace eps {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;  // path from the top of the tree, text

// The rooms, from the top: each may include those before it, and itself.
const std::vector<std::string> kRooms = {"base",
                                         "io",
                                         "math",
                                         "runtime",
                                         "operators",
                                         "diffusion",
                                         "priors",
                                         "nets",
                                         "model",
                                         "methods",
                                         "data",
                                         "metrics",
                                         "training",
                                         "restore",
                                         "report",
                                         "experiment",
                                         "verify",
                                         "serve"};

Files sources_below(const std::string& folder) {
  Files files;
  const fs::path top = EPS_SOURCE_DIR;
  for (const auto& entry : fs::recursive_directory_iterator(top / folder)) {
    const std::string kind = entry.path().extension().string();
    if (kind == ".h" || kind == ".cc" || kind == ".cu" || kind == ".cuh")
      files[fs::relative(entry.path(), top).string()] = get_bytes(entry.path().string());
  }
  return files;
}

int64_t place_of(const std::string& room) {
  const auto found = std::find(kRooms.begin(), kRooms.end(), room);
  return found == kRooms.end() ? -1 : found - kRooms.begin();
}

// One line for each include that goes down the list, or out of eps/.
std::vector<std::string> wrong_includes(const Files& files) {
  static const std::regex include("#include \"([^\"]+)\"");
  static const std::regex in_room("eps/([a-z]+)/.+");
  std::vector<std::string> wrong;
  for (const auto& [path, text] : files) {
    std::smatch own;
    if (!std::regex_match(path, own, in_room) || place_of(own[1]) < 0) {
      wrong.push_back(path + " is in no room");
      continue;
    }
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
      const std::string header = (*it)[1];
      std::smatch other;
      const bool known = std::regex_match(header, other, in_room) && place_of(other[1]) >= 0;
      if (!known || place_of(other[1]) > place_of(own[1]))
        wrong.push_back(path + " includes " + header);
    }
  }
  return wrong;
}

// The names that a source declares in unnamed namespaces, where clang-format begins each
// declaration in the first column. Aliases may agree with each other.
std::set<std::string> unnamed_names(const std::string& text) {
  static const std::regex type("(?:struct|class|enum class) (\\w+).*");
  static const std::regex function("[^(=\"]*?(\\w+)\\(.*");
  static const std::regex value("[^=;{\"]*?(\\w+)(?:\\[\\])?(?: = |;|\\{| \\{).*");
  static const std::regex no_name(
      "(?:[ })#/]|using |namespace |template |TEST|INSTANTIATE|EPS_).*");
  std::set<std::string> names;
  std::istringstream lines(text);
  bool unnamed = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "namespace {") unnamed = true;
    if (line == "}  // namespace") unnamed = false;
    std::smatch found;
    if (!unnamed || line.empty() || std::regex_match(line, no_name)) continue;
    if (std::regex_match(line, found, type) || std::regex_match(line, found, function) ||
        std::regex_match(line, found, value))
      names.insert(found[1]);
  }
  return names;
}

std::vector<std::string> clashes(const Files& files) {
  std::map<std::string, std::string> declared;  // folder and name, path
  std::vector<std::string> found;
  for (const auto& [path, text] : files) {
    if (!path.ends_with(".cc")) continue;
    for (const std::string& name : unnamed_names(text)) {
      const auto [first, is_new] =
          declared.emplace(fs::path(path).parent_path().string() + ": " + name, path);
      if (!is_new) found.push_back(name + " in " + first->second + " and " + path);
    }
  }
  return found;
}

using Lines = std::vector<std::string>;

TEST(Layers, RoomsIncludeOnlyRoomsAboveThem) {
  EXPECT_EQ(wrong_includes(sources_below("eps")), Lines{});
}

TEST(Layers, AnIncludeTheOtherWayIsFound) {
  EXPECT_EQ(wrong_includes({{"eps/io/file.h", "#include <map>\n#include \"eps/base/core.h\"\n"},
                            {"eps/nets/cuda/x.cu", "#include \"eps/nets/unet.h\"\n"}}),
            Lines{});
  EXPECT_EQ(wrong_includes({{"eps/io/file.h", "#include \"eps/operators/task.h\"\n"},
                            {"eps/methods/dps.cc", "#include \"cli/model.h\"\n"},
                            {"eps/pivot.h", ""},
                            {"eps/attic/pivot.h", ""}}),
            (Lines{"eps/attic/pivot.h is in no room",
                   "eps/io/file.h includes eps/operators/task.h",
                   "eps/methods/dps.cc includes cli/model.h",
                   "eps/pivot.h is in no room"}));
}

TEST(Layers, TheMapOfTheReadmeHasEveryRoomInThisOrder) {
  const std::string readme = get_bytes(EPS_SOURCE_DIR "/README.md");
  size_t last = 0;
  for (const std::string& room : kRooms) {
    const size_t found = readme.find("\n  " + room + "/", last);
    ASSERT_NE(found, std::string::npos) << room;
    last = found;
  }
}

// Rooms and the rooms that they include, but base.
using Includes = std::map<std::string, std::set<std::string>>;

Includes includes_of(const Files& files) {
  static const std::regex include("#include \"eps/([a-z]+)/");
  Includes found;
  for (const auto& [path, text] : files) {
    const std::string room = path.substr(4, path.find('/', 4) - 4);
    for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it)
      if ((*it)[1] != room && (*it)[1] != "base") found[room].insert((*it)[1]);
  }
  return found;
}

// A line of the picture has a room and its includes, once or twice, with spaces between.
Includes includes_in_picture(const std::string& text) {
  static const std::regex entry("([a-z]+) {5,}([a-z]+(?: [a-z]+)*)(?: {3,}|$)");
  Includes found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    for (std::sregex_iterator it(line.begin(), line.end(), entry), end; it != end; ++it) {
      std::istringstream names((*it)[2]);
      if (place_of((*it)[1]) >= 0)
        for (std::string name; names >> name;) found[(*it)[1]].insert(name);
    }
  return found;
}

TEST(Layers, ThePictureInContributingHasTheIncludesOfEveryRoom) {
  const Includes picture = includes_in_picture(get_bytes(EPS_SOURCE_DIR "/CONTRIBUTING.md"));
  EXPECT_GE(picture.size(), 12u);
  for (const auto& [room, includes] : includes_of(sources_below("eps")))
    EXPECT_EQ(picture.contains(room) ? picture.at(room) : std::set<std::string>(), includes)
        << room;
}

// A folder is compiled as one file: a second function of a name there is at best an error, at worst
// an overload that takes a call away.
TEST(Layers, UnnamedNamespacesOfAFolderShareNoName) {
  Files files = sources_below("eps");
  files.merge(sources_below("cli"));
  files.merge(sources_below("tests"));
  std::erase_if(files,
                [](const auto& file) { return file.first.starts_with("eps/math/kernels/"); });
  EXPECT_EQ(clashes(files), Lines{});
}

TEST(Layers, ASharedNameIsFound) {
  const std::string one =
      "namespace eps {\nnamespace {\n\nusing Json = json;\nint sum(int a) {\n  return a;\n}\n\n}  "
      "// namespace\nint f() {\n";
  const std::string two =
      "namespace {\nusing Json = json;\nconst double f = 1;\nTensor sum(const Tensor& a,\n         "
      "  int b) {\n}\n}  // namespace\n";
  EXPECT_EQ(clashes({{"eps/io/a.cc", one}, {"eps/io/b.cc", two}}),
            (Lines{"sum in eps/io/a.cc and eps/io/b.cc"}));
  EXPECT_EQ(clashes({{"eps/io/a.cc", one}, {"eps/math/b.cc", two}}), Lines{});
}

}  // namespace
}  // namespace eps
