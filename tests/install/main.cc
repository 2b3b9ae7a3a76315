// A program that uses eps from outside its source tree.
#include <cstdio>

#include "public_headers.h"

int main() {
  const eps::OperatorChoice blur = eps::choose_operator({.gaussian = "1.5"}, 64);
  std::printf("%zu operators, %zu methods, %s\n",
              eps::operators().size(),
              eps::methods().size(),
              blur.spec.c_str());
  return blur.spec == "blur_gaussian:std=1.5,size=13,border=valid" && !eps::methods().empty() ? 0
                                                                                              : 1;
}
