// The registries of operators and tasks, and the grammar of operator specs.
#include "eps/operators/task.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "eps/operators/factories.h"

namespace eps {
namespace {

std::map<std::string, OperatorEntry>& operator_registry() {
  static std::map<std::string, OperatorEntry> registry;
  return registry;
}

template <class Entry>
std::vector<std::string> names(const std::map<std::string, Entry>& registry) {
  std::vector<std::string> result;
  for (const auto& [name, entry] : registry) result.push_back(name);
  return result;
}

// Parts of `text` between separators; the separator has spaces around it, so that file names may
// hold the bare character.
std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t end; (end = text.find(separator, begin)) != std::string::npos;
       begin = end + separator.size())
    parts.push_back(text.substr(begin, end - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

const std::string kThen = " | ";
const std::string kAnd = " + ";

const OperatorEntry& find_operator(const Spec& spec) {
  const auto found = operators().find(spec.name());
  if (const auto task = tasks().find(spec.name()); task != tasks().end())
    fail("\"", spec.name(), "\" is a task; its operator is ", task->second.test);
  if (found == operators().end()) throw UnknownName("operator", spec.name(), names(operators()));
  return found->second;
}

Draw parse_one(const std::string& text) {
  const Spec parsed = Spec::parse(text);
  const OperatorEntry& entry = find_operator(parsed);
  const Spec spec = parsed.resolve(entry.fields);
  return [spec, make = entry.make](const Tensor& like, Rng& rng) {
    check(like.dim() == 4,
          spec.name(),
          ": images must be N x C x H x W, got ",
          to_string(like.sizes()));
    return make(spec, like, rng);
  };
}

// a | b: b is drawn for images of the shape that a makes.
Draw parse_chain(const std::string& text) {
  std::vector<Draw> links;
  for (const auto& link : split(text, kThen)) links.push_back(parse_one(link));
  if (links.size() == 1) return links[0];
  return [links](const Tensor& like, Rng& rng) {
    Operator chain = links[0](like, rng);
    for (size_t i = 1; i < links.size(); ++i) {
      const Tensor between = chain->apply(at::zeros_like(like, at::kDouble));
      chain = compose(chain, links[i](between, rng));
    }
    return chain;
  };
}

}  // namespace

const std::map<std::string, OperatorEntry>& operators() { return operator_registry(); }

bool register_operator(OperatorEntry entry) {
  return operator_registry().emplace(entry.name, entry).second;
}

Draw parse_operator(const std::string& spec) {
  std::vector<Draw> parts;
  for (const auto& part : split(spec, kAnd)) parts.push_back(parse_chain(part));
  if (parts.size() == 1) return parts[0];
  return [parts](const Tensor& like, Rng& rng) {
    std::vector<Operator> drawn;
    for (const auto& part : parts) drawn.push_back(part(like, rng));
    return stack(drawn, like.sizes().vec());
  };
}

Operator make_operator(const std::string& spec, const Tensor& like, Rng& rng) {
  return parse_operator(spec)(like, rng);
}

bool is_composed(const std::string& spec) {
  return spec.find(kThen) != std::string::npos || spec.find(kAnd) != std::string::npos;
}

Shape image_shape_of(const std::string& text, const Shape& y) {
  check(text.find(kAnd) == std::string::npos,
        text,
        ": the image shape cannot be told from a stacked measurement; give it (C, H, W)");
  Shape shape = y;
  const auto links = split(text, kThen);
  for (auto link = links.rbegin(); link != links.rend(); ++link) {
    const Spec parsed = Spec::parse(*link);
    const OperatorEntry& entry = find_operator(parsed);
    if (entry.image_shape) shape = entry.image_shape(parsed.resolve(entry.fields), shape);
  }
  check(shape.size() == 4, text, ": no image can have given a measurement of shape ", to_string(y));
  return shape;
}

int64_t measurement_dims_of(const std::string& text) {
  if (text.find(kAnd) != std::string::npos) return 2;  // stacked measurements are flat
  return find_operator(Spec::parse(split(text, kThen).back())).measurement_dims;
}

bool is_random(const std::string& text) {
  for (const auto& chain : split(text, kAnd))
    for (const auto& link : split(chain, kThen)) {
      const Spec parsed = Spec::parse(link);
      const OperatorEntry& entry = find_operator(parsed);
      if (entry.is_random && entry.is_random(parsed.resolve(entry.fields))) return true;
    }
  return false;
}

std::function<bool(const Spec& spec)> random_ranges(std::vector<std::string> keys) {
  return [keys = std::move(keys)](const Spec& spec) {
    return std::any_of(keys.begin(), keys.end(), [&](const std::string& key) {
      constexpr double kAny = 1e300;
      const Range range = spec.range(key, -kAny, kAny, 1);
      return range.low < range.high;
    });
  };
}

Tensor draw_in(const Range& range, const Tensor& like, Rng& rng) {
  return range.low + (range.high - range.low) * rng.uniform({like.size(0), 1, 1, 1});
}

const std::map<std::string, Task>& tasks() {
  static const std::map<std::string, Task> table = {
      {"random_inpainting", {"inpaint_random:missing=0.5..0.7", "inpaint_random:missing=0.7"}},
      {"random_inpainting_95", {"inpaint_random:missing=0.95", "inpaint_random:missing=0.95"}},
      // The paper gives no size for the centred test box: half the side, the largest it trains on.
      {"box_inpainting",
       {"inpaint_box:height=25%..50%,width=25%..50%,position=random,margin=6.25%",
        "inpaint_box:height=50%,width=50%"}},
      {"super_resolution_4x", {"super_resolution:factor=4", "super_resolution:factor=4"}},
      {"super_resolution_16x", {"super_resolution:factor=16", "super_resolution:factor=16"}},
      {"gaussian_deblurring", {"blur_gaussian:std=0.75,size=11", "blur_gaussian:std=0.75,size=11"}},
      // Nor which kernels are used at test time: the training distribution, under the test's seed.
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
  const std::string first = split(split(name, kAnd)[0], kThen)[0];
  if (operators().count(Spec::parse(first).name())) return {name, name};
  auto known = names(tasks());
  for (const auto& other : names(operators())) known.push_back(other);
  throw UnknownName("task", name, known);
}

}  // namespace eps
