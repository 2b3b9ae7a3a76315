// The verb `eps operator` applies one action of one operator to an array, so that other programs
// can check the operators of eps.
#include <fmt/format.h>

#include "cli/output.h"
#include "cli/seed.h"
#include "cli/verbs.h"
#include "eps/diffusion/pivot.h"
#include "eps/io/images/image.h"
#include "eps/operators/task.h"

namespace eps::cli {
namespace {

struct ActionOptions {
  std::string spec, action, input, output, measurement, save;
  std::vector<int64_t> shape;
  double lambda = -1, sigma = -1, sigma_y = -1;
  uint64_t seed = 0;
};

const std::vector<std::string> kActions = {"apply", "adjoint", "ridge", "pinv", "pivot"};

bool takes_image(const ActionOptions& o) { return o.action == "apply" || o.action == "pivot"; }

// Refuses missing and superfluous options before any file is read.
void validate_operator_options(const ActionOptions& o) {
  const auto given = [](double value) { return value >= 0; };
  const auto only_for = [&](bool is_given, const char* option, const char* action) {
    check(!is_given || o.action == action,
          "operator ",
          o.action,
          ": ",
          option,
          " is for ",
          action,
          " only");
  };
  only_for(given(o.lambda), "--lambda", "ridge");
  only_for(!o.measurement.empty(), "--measurement", "pivot");
  only_for(given(o.sigma), "--sigma", "pivot");
  only_for(given(o.sigma_y), "--sigma-y", "pivot");
  check(o.shape.empty() || !takes_image(o),
        "operator ",
        o.action,
        ": --shape is for measurements; IN is an image, which has a shape");
  check_output(o.output, false);
  if (!o.save.empty()) check_output(o.save, true);
  if (o.action == "ridge")
    check(given(o.lambda), "operator ridge: --lambda is wanted, a number >= 0");
  if (o.action == "pivot") {
    check(!o.measurement.empty(), "operator pivot: --measurement Y.npy is wanted");
    check(o.sigma > 0, "operator pivot: --sigma is wanted, a number > 0");
    check(given(o.sigma_y), "operator pivot: --sigma-y is wanted, a number >= 0");
  }
  parse_operator(o.spec);
}

// Returns the array of the file `path` as float64 and refuses values that are not finite. An image
// H x W or C x H x W becomes a batch of one.
Tensor checked(Tensor x, const std::string& path, bool image) {
  check(x.is_floating_point(), path, ": float32 or float64 is wanted, found ", x.dtype().name());
  require_finite(x, path);
  x = x.to(at::kDouble);
  if (!image) return x;
  check(x.dim() >= 2 && x.dim() <= 4,
        path,
        ": an image is H x W, C x H x W or N x C x H x W, got ",
        to_string(x.sizes()));
  while (x.dim() < 4) x = x.unsqueeze(0);
  return x;
}

// Returns the shape of the images that were measured: from --shape, or from the operator and the
// measurement `y`. A single measurement without the batch dimension becomes a batch of one.
Shape image_shape(const ActionOptions& o, Tensor& y) {
  if (!o.shape.empty()) {
    check(o.shape.size() == 3, "--shape: C H W is wanted, got ", o.shape.size(), " numbers");
    Rng rng(o.seed);
    const Tensor one = at::zeros({1, o.shape[0], o.shape[1], o.shape[2]}, at::kDouble);
    const Tensor measurement = make_operator(o.spec, one, rng)->apply(one);
    while (y.dim() < measurement.dim()) y = y.unsqueeze(0);
    check(y.sizes().slice(1) == measurement.sizes().slice(1),
          o.input,
          ": a measurement of an image of ",
          to_string(one.sizes().slice(1)),
          " is ",
          to_string(measurement.sizes().slice(1)),
          ", got ",
          to_string(y.sizes()));
    return {y.size(0), o.shape[0], o.shape[1], o.shape[2]};
  }
  while (y.dim() < measurement_dims_of(o.spec)) y = y.unsqueeze(0);
  return image_shape_of(o.spec, y.sizes().vec());
}

void save_parameters(const ActionOptions& o, const LinearOperator& A) {
  const auto parameters = A.format().parameters();
  check(!parameters.empty(), o.spec, ": nothing was drawn, so --save has nothing to write");
  check(parameters.size() == 1,
        o.spec,
        ": --save writes one parameter, this operator has ",
        parameters.size());
  const Tensor value = parameters.begin()->second;
  if (!is_png(o.save)) return write_array(o.save, value);
  check(value.size(0) == 1,
        o.save,
        ": a PNG holds one picture, ",
        parameters.begin()->first,
        " has ",
        value.size(0),
        "; use .npy");
  check(value.min().item<double>() >= 0, o.save, ": a PNG holds no negative values; use .npy");
  write_png(o.save, (value[0] / value.max().clamp_min(1e-300) * 255).round().to(at::kByte));
}

Tensor act(const ActionOptions& o, const Operator& A, const Tensor& in) {
  if (o.action == "apply") return A->apply(in);
  if (o.action == "adjoint") return A->adjoint(in);
  if (o.action == "ridge") return A->ridge(in, scalar(o.lambda));
  if (o.action == "pinv") return A->ridge(in, scalar(0));
  Tensor y = checked(read_array(o.measurement), o.measurement, false);
  const Shape wanted = A->apply(in).sizes().vec();
  // A single measurement without the batch dimension belongs to one image.
  if (y.dim() + 1 == static_cast<int64_t>(wanted.size())) y = y.unsqueeze(0);
  while (y.dim() < static_cast<int64_t>(wanted.size()) && wanted.size() == 4) y = y.unsqueeze(0);
  check(y.sizes() == at::IntArrayRef(wanted),
        o.measurement,
        ": the measurement of an image of ",
        to_string(in.sizes()),
        " is ",
        to_string(wanted),
        ", got ",
        to_string(y.sizes()));
  return pivot({A, y, scalar(o.sigma_y)}, in, edm().at(scalar(o.sigma)));
}

void run_operator(const ActionOptions& o) {
  validate_operator_options(o);
  const Tensor raw = read_array(o.input);
  check(raw.numel() > 0, o.input, ": holds no values, its shape is ", to_string(raw.sizes()));
  Tensor in = checked(raw, o.input, takes_image(o));
  const Shape image = takes_image(o) ? in.sizes().vec() : image_shape(o, in);
  Rng rng(o.seed, image[0]);
  const Operator A = make_operator(o.spec, at::empty(image, at::kDouble), rng);
  Tensor out = act(o, A, in);
  for (int64_t i = raw.dim(); i < in.dim() && out.size(0) == 1; ++i) out = out.squeeze(0);
  if (!o.save.empty()) save_parameters(o, *A);
  write_array(o.output, out.to(raw.scalar_type() == at::kDouble ? at::kDouble : at::kFloat));
}

}  // namespace

void add_operator(CLI::App& app) {
  const auto o = std::make_shared<ActionOptions>();
  auto* verb = app.add_subcommand(
      "operator", "Apply an operator, its adjoint, ridge, pseudo-inverse or pivot to an array");
  verb->add_option("SPEC",
                   o->spec,
                   "Operator, such as blur_motion:length=15,angle=30; see eps list operators")
      ->required();
  verb->add_option("ACTION", o->action, "apply, adjoint, ridge, pinv or pivot")
      ->required()
      ->check(CLI::IsMember(kActions));
  verb->add_option(
          "IN", o->input, "Image (apply, pivot) or measurement: .npy or .safetensors[#name]")
      ->required();
  verb->add_option("OUT", o->output, "File to write: .npy or .safetensors[#name]")->required();
  verb->add_option("--lambda", o->lambda, "ridge: (A'A + lambda I)^{-1} A' IN")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--measurement", o->measurement, "pivot: the measurement y; IN is x_t");
  verb->add_option("--sigma", o->sigma, "pivot: noise level of x_t = x0 + sigma n")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--sigma-y", o->sigma_y, "pivot: noise level of y")
      ->check(CLI::NonNegativeNumber);
  verb->add_option(
          "--shape", o->shape, "C H W of the image, where the measurement does not determine it")
      ->expected(3)
      ->check(CLI::PositiveNumber);
  verb->add_option("--seed", o->seed, "Seed of a random operator; image n has a stream of its own")
      ->check(seed_up_to())
      ->capture_default_str();
  verb->add_option(
      "--save", o->save, "Also write the drawn mask, kernel or matrix: .npy, .safetensors or .png");
  verb->callback([o] { run_operator(*o); });
}

}  // namespace eps::cli
