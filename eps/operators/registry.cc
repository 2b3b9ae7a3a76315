// The registry of operators, and the grammar of operator specs.
#include "eps/operators/registry.h"

#include <algorithm>
#include <mutex>

#include "eps/base/registered.h"
#include "eps/operators/factories.h"
#include "eps/operators/task.h"

namespace eps {
namespace {

Registered<OperatorEntry>& operator_registry() {
  static Registered<OperatorEntry> registry("operator");
  return registry;
}

// Returns the parts of `text` between separators. A separator has spaces around it, so that file
// names may hold the bare character.
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

// Returns the operators of "a | b + c", one after the other.
std::vector<Spec> parts_of(const std::string& text) {
  std::vector<Spec> parts;
  for (const auto& chain : split(text, kAnd))
    for (const auto& link : split(chain, kThen)) parts.push_back(Spec::parse(link));
  return parts;
}

// Returns whether a value such as coils=4 is no file.
bool is_number(const std::string& value) {
  return value.find_first_not_of("0123456789") == std::string::npos;
}

const OperatorEntry& find_operator(const Spec& spec) {
  const auto found = operators().find(spec.name());
  if (const auto task = tasks().find(spec.name()); task != tasks().end())
    fail("\"", spec.name(), "\" is a task; its operator is ", task->second.test);
  if (found == operators().end()) throw UnknownName("operator", spec.name(), names_of(operators()));
  return found->second;
}

Draw parse_one(const std::string& text) {
  const Spec parsed = Spec::parse(text);
  const OperatorEntry& entry = find_operator(parsed);
  const Spec spec = parsed.resolve(entry.fields);
  return [spec, make = entry.make, channels = entry.channels](const Tensor& like, Rng& rng) {
    check(like.dim() == 4,
          spec.name(),
          ": images must be N x C x H x W, got ",
          to_string(like.sizes()));
    check(channels == 0 || like.size(1) == channels,
          spec.name(),
          ": images of ",
          channels,
          " channels are wanted, got ",
          like.size(1));
    return make(spec, like, rng);
  };
}

// Parses a chain a | b, where b is drawn for images of the shape that a makes.
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

// Returns a Draw that keeps its last operator for images of the same shape on the same device, for
// specs that leave nothing to the draw: decompositions are then computed once, and not for every
// batch of a training.
Draw remembered(Draw draw) {
  struct Memory {
    std::mutex mutex;
    Shape image;
    at::Device device = at::kCPU;
    Operator last;
  };
  return
      [draw = std::move(draw), memory = std::make_shared<Memory>()](const Tensor& like, Rng& rng) {
        const std::lock_guard lock(memory->mutex);
        Shape image = like.sizes().vec();
        const bool shared = memory->last && memory->last->format().batch() == 1;
        if (shared && !image.empty()) image[0] = memory->image[0];
        if (!memory->last || image != memory->image || like.device() != memory->device) {
          memory->last = draw(like, rng);
          memory->image = like.sizes().vec();
          memory->device = like.device();
        }
        return memory->last;
      };
}

}  // namespace

const std::map<std::string, OperatorEntry>& operators() { return operator_registry().all(); }

bool register_operator(OperatorEntry entry) { return operator_registry().add(entry); }

Draw parse_operator(const std::string& spec) {
  std::vector<Draw> parts;
  for (const auto& part : split(spec, kAnd)) parts.push_back(parse_chain(part));
  Draw draw = parts[0];
  if (parts.size() > 1)
    draw = [parts](const Tensor& like, Rng& rng) {
      std::vector<Operator> drawn;
      for (const auto& part : parts) drawn.push_back(part(like, rng));
      return stack(drawn, like);
    };
  return is_random(spec) ? draw : remembered(draw);
}

Operator make_operator(const std::string& spec, const Tensor& like, Rng& rng) {
  return parse_operator(spec)(like, rng);
}

bool is_composed(const std::string& spec) {
  return spec.find(kThen) != std::string::npos || spec.find(kAnd) != std::string::npos;
}

std::string operator_name(const std::string& spec) {
  return is_composed(spec) ? spec : spec.substr(0, spec.find(':'));
}

const std::vector<std::string>& operator_kinds() {
  static const std::vector<std::string> kinds = {
      "other", "mask", "box", "gaussian_blur", "motion_blur", "pooling"};
  return kinds;
}

std::string kind_of(const std::string& spec) {
  const auto& kinds = operator_kinds();
  size_t of_stack = kinds.size() - 1;
  for (const auto& chain : split(spec, kAnd)) {
    size_t of_chain = 0;
    for (const auto& link : split(chain, kThen)) {
      const std::string& kind = find_operator(Spec::parse(link)).kind;
      const auto found = std::find(kinds.begin(), kinds.end(), kind);
      check(found != kinds.end(), "operator ", link, ": unknown kind \"", kind, "\"");
      of_chain = std::max(of_chain, static_cast<size_t>(found - kinds.begin()));
    }
    of_stack = std::min(of_stack, of_chain);
  }
  return kinds[of_stack];
}

bool names_operator(const std::string& spec) {
  return operators().contains(parts_of(spec).front().name());
}

Shape image_shape_of(const std::string& text, const Shape& y) {
  check(text.find(kAnd) == std::string::npos,
        text,
        ": the image shape cannot be derived from a stacked measurement; give it (C, H, W)");
  Shape shape = y;
  const auto links = split(text, kThen);
  for (auto link = links.rbegin(); link != links.rend(); ++link) {
    const Spec parsed = Spec::parse(*link);
    const OperatorEntry& entry = find_operator(parsed);
    if (entry.image_shape) shape = entry.image_shape(parsed.resolve(entry.fields), shape);
  }
  check(shape.size() == 4, text, ": no image has a measurement of shape ", to_string(y));
  return shape;
}

int64_t measurement_dims_of(const std::string& text) {
  if (text.find(kAnd) != std::string::npos) return 2;  // stacked measurements are flat
  return find_operator(Spec::parse(split(text, kThen).back())).measurement_dims;
}

bool is_random(const std::string& text) {
  const std::vector<Spec> parts = parts_of(text);
  return std::any_of(parts.begin(), parts.end(), [](const Spec& part) {
    const OperatorEntry& entry = find_operator(part);
    return entry.is_random && entry.is_random(part.resolve(entry.fields));
  });
}

bool mixes_channels(const std::string& spec) {
  const std::vector<Spec> parts = parts_of(spec);
  return std::any_of(parts.begin(), parts.end(), [](const Spec& part) {
    return find_operator(part).mixes_channels;
  });
}

int64_t channels_of(const std::string& text, int64_t any) {
  for (const auto& chain : split(text, kAnd)) {
    const Spec first = Spec::parse(split(chain, kThen).front());
    if (const int64_t channels = find_operator(first).channels) return channels;
  }
  return any;
}

Tensor whitened(const std::string& text, const Tensor& y) {
  const bool stacked = text.find(kAnd) != std::string::npos;
  for (const auto& chain : split(text, kAnd)) {
    const Spec last = Spec::parse(split(chain, kThen).back());
    const OperatorEntry& entry = find_operator(last);
    if (!entry.whiten) continue;
    check(!stacked, text, ": the noise of a stacked measurement must be the same in all entries");
    return entry.whiten(last.resolve(entry.fields), y);
  }
  return y;
}

std::vector<std::string> files_of(const std::string& text) {
  std::vector<std::string> files;
  for (const Spec& part : parts_of(text))
    for (const char* field : {"file", "weights_file", "mask", "coils"})
      if (part.has(field) && !is_number(part.text(field))) files.push_back(part.text(field));
  return files;
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

}  // namespace eps
