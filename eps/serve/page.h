// The page of the server, as the build embeds it.
#pragma once

#include <string_view>
#include <vector>

namespace eps::serve {

struct PageFile {
  std::string_view name, content;
};

// Returns the files of web/ (cmake/EpsPage.cmake makes the function).
const std::vector<PageFile>& page_files();

}  // namespace eps::serve
