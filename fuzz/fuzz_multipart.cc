// Hostile forms with files, whose first line is their Content-Type.
#include "eps/serve/multipart.h"
#include "fuzz/target.h"

EPS_FUZZ_TARGET(multipart) {
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  const std::string type(bytes.substr(0, end));
  try {
    for (const auto& part : serve::parse_multipart(bytes.substr(std::min(end + 1, bytes.size())),
                                                   serve::boundary_of(type)))
      if (part.file_name.find('/') != std::string::npos)
        throw std::logic_error("the name of a file leads to another folder");
  } catch (const Error& error) {
    fail("multipart: ", error.what());
  }
}
