// The paper's tasks, and the tasks of operator specs.
#include "eps/operators/task.h"

#include <fmt/format.h>

#include <charconv>

#include "eps/base/registered.h"

namespace eps {

const std::map<std::string, Task>& tasks() {
  static const std::map<std::string, Task> table = {
      {"random_inpainting", {"inpaint_random:missing=0.5..0.7", "inpaint_random:missing=0.7"}},
      {"random_inpainting_95", {"inpaint_random:missing=0.95", "inpaint_random:missing=0.95"}},
      // The paper gives no size for the centred test box; it is half the side, the largest box of
      // training.
      {"box_inpainting",
       {"inpaint_box:height=25%..50%,width=25%..50%,position=random,margin=6.25%",
        "inpaint_box:height=50%,width=50%"}},
      {"super_resolution_4x", {"super_resolution:factor=4", "super_resolution:factor=4"}},
      {"super_resolution_16x", {"super_resolution:factor=16", "super_resolution:factor=16"}},
      {"gaussian_deblurring", {"blur_gaussian:std=0.75,size=11", "blur_gaussian:std=0.75,size=11"}},
      // The paper does not give the kernels of the test either; they have the distribution of
      // training, under the test's seed.
      {"motion_deblurring",
       {"blur_motion:length=7..15,step=2,angle=0..180",
        "blur_motion:length=7..15,step=2,angle=0..180"}},
  };
  return table;
}

Task find_task(const std::string& name) {
  if (const auto found = tasks().find(name); found != tasks().end()) return found->second;
  const std::string density_prefix = "random_inpainting_";
  if (name.rfind(density_prefix, 0) == 0) {
    int percent = -1;
    const char* end = name.data() + name.size();
    const auto [stop, status] = std::from_chars(name.data() + density_prefix.size(), end, percent);
    check(status == std::errc() && stop == end && percent >= 0 && percent <= 100,
          "task \"",
          name,
          "\": wanted ",
          density_prefix,
          "<percent missing, 0 to 100>");
    const std::string spec = fmt::format("inpaint_random:missing={}", percent / 100.0);
    return {spec, spec};
  }
  if (names_operator(name)) return {name, name};
  // A spec has options, a task has none.
  if (const size_t colon = name.find(':'); colon != std::string::npos)
    throw UnknownName("operator", name.substr(0, colon), names_of(operators()));
  auto known = names_of(tasks());
  for (const auto& other : names_of(operators())) known.push_back(other);
  throw UnknownName("task", name, known);
}

}  // namespace eps
