// The operator that made a measurement, chosen by a user's options.
#include "eps/restore/operator_choice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "eps/operators/factories.h"
#include "eps/operators/parameter_file.h"

namespace eps {

std::optional<Border> border_in(const std::string& spec) {
  if (is_composed(spec)) return {};
  const Spec parsed = Spec::parse(spec);
  const auto entry = operators().find(parsed.name());
  if (entry == operators().end()) return {};
  const auto& fields = entry->second.fields;
  const bool has_border =
      std::any_of(fields.begin(), fields.end(), [](const Field& f) { return f.name == "border"; });
  if (!has_border) return {};
  return border_of(parsed.resolve(fields));
}

namespace {

// Returns an operator from a file whose name may hold any character, and so cannot be part of a
// spec; the image has the size of the measurement.
OperatorChoice from_file(const std::string& name,
                         const std::string& path,
                         const std::function<Operator(const Tensor& like)>& make) {
  return {.name = name,
          .spec = name + ":file=" + path,
          .draw = [make](const Tensor& like, Rng&) { return make(like); },
          .from_file = true,
          .image_shape = [](const Shape& y) { return y; }};
}

// Returns the spec of a task or operator; a blur that names no border gets this one.
std::string spec_with_border(const std::string& name, const std::string& border) {
  const std::string spec = find_task(name).test;
  if (!border_in(spec) || Spec::parse(spec).has("border")) return spec;
  return spec + (spec.find(':') == std::string::npos ? ":" : ",") + "border=" + border;
}

OperatorChoice from_spec(const std::string& name) {
  const std::string spec = find_task(name).test;
  return {.name = operator_name(spec),
          .spec = spec,
          .draw = parse_operator(spec),
          .is_random = is_random(spec),
          .border = border_in(spec),
          .measurement_dims = measurement_dims_of(spec),
          .image_shape = [spec](const Shape& y) { return image_shape_of(spec, y); }};
}

// Returns the two parts of "A,B", or of "A" and nothing.
std::pair<std::string, std::string> at_comma(const std::string& text) {
  const size_t comma = text.find(',');
  if (comma == std::string::npos) return {text, ""};
  return {text.substr(0, comma), text.substr(comma + 1)};
}

// Returns the spec of a motion blur "LENGTH,ANGLE".
std::string motion_spec(const std::string& text) {
  const auto [length, angle] = at_comma(text);
  check(!angle.empty() && angle.find(',') == std::string::npos,
        "motion ",
        text,
        ": LENGTH,ANGLE is wanted, in pixels and degrees");
  return "blur_motion:length=" + length + ",angle=" + angle;
}

// Returns the spec of a Gaussian blur whose kernel reaches 4 standard deviations, or as far as the
// image does.
std::string gaussian_spec(const std::string& text, int64_t side) {
  const Range std = Spec::parse("gaussian:STD=" + text).range("STD", 1e-3, 1e3);
  auto reach = static_cast<int64_t>(std::ceil(4 * std.high));
  if (side > 0) reach = std::min(reach, (side - 1) / 2);
  return "blur_gaussian:std=" + text + ",size=" + std::to_string(2 * reach + 1);
}

// Returns the spec of a reduction "K" or "K,FILTER".
std::string downscale_spec(const std::string& text) {
  const auto [factor, filter] = at_comma(text);
  const bool named = text.find(',') != std::string::npos;
  check(named ? !filter.empty() && filter.find_first_of(",=") == std::string::npos : true,
        "downscale ",
        text,
        ": K or K,FILTER is wanted, such as 4,bicubic; operator downscale:... has other fields");
  return filter.empty() ? "super_resolution:factor=" + factor
                        : "downscale:factor=" + factor + ",filter=" + filter;
}

// Returns the blur with the kernel of a file.
OperatorChoice kernel_choice(const OperatorOptions& o, Border border) {
  const auto kernel =
      [path = o.kernel, values = o.kernel_values, flip = o.flip_kernel](const Tensor& like) {
        const Tensor read =
            values.defined() ? kernel_from(values, path, like) : read_kernel_file(path, like);
        return flip ? read.flip({1, 2}) : read;
      };
  OperatorChoice chosen = from_file("blur_kernel", o.kernel, [=](const Tensor& like) {
    return blur(kernel(like), like.size(2), like.size(3), border);
  });
  chosen.spec += ",border=" + to_string(border);
  if (o.flip_kernel) chosen.spec += ", flipped";
  chosen.border = border;
  if (border == Border::valid)
    chosen.image_shape = [kernel](const Shape& y) {
      const Tensor one = kernel(at::empty({1, 1, 1, 1}, at::kDouble));
      return Shape{y[0], y[1], y[2] + one.size(1) - 1, y[3] + one.size(2) - 1};
    };
  return chosen;
}

}  // namespace

OperatorChoice choose_operator(const OperatorOptions& o, int64_t side, bool simulate) {
  std::vector<std::string> given;
  for (const auto& [option, value] : std::map<std::string, std::string>{{"mask", o.mask},
                                                                        {"kernel", o.kernel},
                                                                        {"motion", o.motion},
                                                                        {"gaussian", o.gaussian},
                                                                        {"disk", o.disk},
                                                                        {"downscale", o.downscale},
                                                                        {"bayer", o.bayer},
                                                                        {"operator", o.spec}})
    if (!value.empty()) given.push_back(option);
  if (o.denoise) given.push_back("denoise");
  check(given.size() == 1,
        "which operator made the measurement? One of mask, kernel, motion, gaussian, disk, "
        "downscale, bayer, operator and denoise (of a picture that is only noisy) is wanted, got ",
        given.empty() ? "none" : fmt::format("{}", fmt::join(given, " and ")));
  check(!o.centred || !o.spec.empty(), "centred: is for k-space, which only operator names");
  check(!o.flip_kernel || !o.kernel.empty(), "flip_kernel: there is no kernel to flip");
  const bool blurred =
      !(o.kernel.empty() && o.motion.empty() && o.gaussian.empty() && o.disk.empty());
  check(o.border.empty() || blurred, "border: is for kernel, motion, gaussian and disk");
  const bool is_black = o.border == "black";
  const std::string border = is_black            ? "zero"
                             : !o.border.empty() ? o.border
                             : simulate          ? "circular"
                                                 : "valid";
  try {
    parse_border(border);
  } catch (const Error& error) {
    fail(error.what(), "; or black, of a picture");
  }
  const auto blurred_by = [&](const std::string& spec) {
    OperatorChoice chosen = from_spec(spec + ",border=" + border);
    chosen.is_black = is_black;
    return chosen;
  };
  if (!o.mask.empty()) {
    const auto mask = [path = o.mask, values = o.mask_values](const Tensor& like) {
      return values.defined() ? mask_from(values, path, like) : read_mask_file(path, like);
    };
    OperatorChoice chosen = from_file("inpaint_mask", o.mask, [mask](const Tensor& like) {
      return inpainting(mask(like).unsqueeze(1));
    });
    chosen.mask = o.mask;
    return chosen;
  }
  if (!o.kernel.empty()) {
    OperatorChoice chosen = kernel_choice(o, parse_border(border));
    chosen.is_black = is_black;
    return chosen;
  }
  if (!o.motion.empty()) return blurred_by(motion_spec(o.motion));
  if (!o.gaussian.empty()) return blurred_by(gaussian_spec(o.gaussian, side));
  if (!o.disk.empty()) return blurred_by("blur_disk:radius=" + o.disk);
  if (!o.downscale.empty()) return from_spec(downscale_spec(o.downscale));
  if (!o.bayer.empty()) return from_spec("bayer:pattern=" + o.bayer);
  if (o.denoise) return from_spec("identity");
  OperatorChoice chosen = from_spec(spec_with_border(o.spec, border));
  chosen.centred = o.centred;
  return chosen;
}

}  // namespace eps
