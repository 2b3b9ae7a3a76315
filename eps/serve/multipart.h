// The parts of a form with files, multipart/form-data.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace eps::serve {

struct Part {
  std::string name = {};
  std::string file_name = {};     // its last component, printable; "" for a field
  std::string_view content = {};  // within the body
};

// Returns the boundary in a Content-Type; "" if it is another type, or broken.
std::string boundary_of(const std::string& content_type);

// Returns the parts of a body. Anything but parts of a form with different names, each ended by the
// boundary, is an Error. The body must outlive the parts.
std::vector<Part> parse_multipart(std::string_view body, const std::string& boundary);

}  // namespace eps::serve
