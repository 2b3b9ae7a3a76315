// Queries, pivots and preconditioning for Python, with derivatives.
#include "queries.h"

#include "eps/math/spectrum.h"
#include "eps/model/config.h"
#include "eps/model/preconditioned_query.h"
#include "networks.h"
#include "python_operator.h"

namespace eps::python {
namespace {

// A `State` is (y, x_t, sigma, sigma_y), checked.
struct State {
  Problem problem;
  Tensor x_t, sigma;
};

State state_of(const BoundOperator& A,
               const Tensor& y,
               const Tensor& x_t,
               const Tensor& sigma,
               const Tensor& sigma_y) {
  State state;
  state.x_t = A.images("x_t", x_t);
  const int64_t images = x_t.size(0);
  state.sigma = level("sigma", sigma, state.x_t, false);
  state.problem.y = A.measurements("y", y);
  check(y.size(0) == 1 || y.size(0) == images,
        "y: ",
        y.size(0),
        " measurements of ",
        images,
        " images");
  check(y.scalar_type() == x_t.scalar_type(), "x_t and y of one type are wanted");
  state.problem.sigma_y = level("sigma_y", sigma_y, state.x_t, true);
  const bool differs =
      is_recorded(state.x_t) || is_recorded(y) || is_recorded(sigma) || is_recorded(sigma_y);
  state.problem.A = differs ? A.with_derivatives : A.A;
  return state;
}

Tensor pivot_of(const BoundOperator& A,
                const Tensor& y,
                const Tensor& x_t,
                const Tensor& sigma,
                const Tensor& sigma_y) {
  const State s = state_of(A, y, x_t, sigma, sigma_y);
  return pivot(s.problem, s.x_t, edm().at(s.sigma)).to(x_t.scalar_type());
}

BoundQuery query_of(const BoundOperator& A,
                    const Tensor& y,
                    const Tensor& x_t,
                    const Tensor& sigma,
                    const Tensor& sigma_y,
                    const std::string& inputs) {
  const State s = state_of(A, y, x_t, sigma, sigma_y);
  const NetworkInput input = parse_input(inputs);
  check(!input.is_bridge(), "query: bridges are crossed by the library only");
  check(!is_recorded(y) && !is_recorded(sigma) && !is_recorded(sigma_y),
        "query: derivatives are those for x_t; eps.pivot has them for y and the noise, too");
  check(!input.needs_spectrum() || (s.problem.sigma_y > 0).all().item<bool>(),
        "query: the input ",
        inputs,
        " has logarithms of variances, which need sigma_y > 0");
  Query query = make_query(input, s.problem, s.x_t, edm().at(s.sigma));
  if (query.A) query.A = A.with_derivatives;
  if (query.side.defined()) query.side = query.side.detach();
  return {query, input};
}

BoundQuery prior_query_of(const Tensor& x, const Tensor& sigma) {
  const Tensor images = plain_tensor("x", x, x.device());
  check(x.dim() == 4 && x.numel() > 0, "x: N x C x H x W is wanted, got ", to_string(x.sizes()));
  const Tensor levels = level("sigma", sigma, images, false);
  return {prior_query(images, edm().at(levels)), NetworkInput::prior};
}

Preconditioning preconditioning_of(const std::string& kind,
                                   double sigma_data,
                                   const std::string& prior_variance,
                                   const std::optional<Tensor>& spectrum) {
  check(kind == "edm" || kind == "anisotropic",
        "preconditioning: edm or anisotropic is wanted, got ",
        kind);
  check(sigma_data > 0 && std::isfinite(sigma_data),
        "preconditioning: sigma_data must be > 0, got ",
        sigma_data);
  const bool known = prior_variance == "constant" || prior_variance == "spectrum" ||
                     prior_variance == "geometric_mean";
  check(known,
        "preconditioning: prior_variance is constant, spectrum or geometric_mean, got ",
        prior_variance);
  Preconditioning p;
  p.kind = kind == "edm" ? Preconditioning::Kind::edm : Preconditioning::Kind::anisotropic;
  p.sigma_data = sigma_data;
  p.prior_variance = prior_variance;
  if (spectrum) {
    check(spectrum->layout() == at::kStrided && spectrum->is_floating_point() &&
              spectrum->dim() == 2 && spectrum->numel() > 0,
          "preconditioning: a spectrum of H x (W/2 + 1) real numbers is wanted");
    p.spectrum = spectrum->detach().to(at::kFloat);
    check(at::logical_and(p.spectrum >= 0, at::isfinite(p.spectrum)).all().item<bool>(),
          "preconditioning: a spectrum is finite and >= 0");
  }
  check(prior_variance == "constant" || p.spectrum.defined(),
        "preconditioning: prior_variance=",
        prior_variance,
        " needs the spectrum of the data, eps.power_spectrum(images)");
  return p;
}

Preconditioning preconditioning_in(const std::string& config,
                                   const std::optional<Tensor>& spectrum) {
  Preconditioning p = parse_model_config(config).preconditioning;
  if (spectrum) p.spectrum = spectrum->detach().to(at::kFloat);
  return p;
}

// A `Scaling` keeps the query's image, which answers and targets must be like.
struct Scaling : PreconditionedQuery {
  Scaling(const Preconditioning& p, const Query& query, const NetworkInput& input)
      : PreconditionedQuery(p, query, input), x(query.x) {}

  Tensor x;
};

// Returns the coefficients of a query; the spectrum is resampled to the size of its images.
std::shared_ptr<Scaling> scaling_of(Preconditioning p, const BoundQuery& bound, bool scale_side) {
  const Tensor& x = bound.query.x;
  if (p.spectrum.defined()) {
    if (p.spectrum.size(0) != x.size(2) || p.spectrum.size(1) != x.size(3) / 2 + 1)
      p.spectrum = resampled_spectrum(p.spectrum, x.size(2), x.size(3));
    p = p.on(x.device());
  }
  NetworkInput input = bound.input;
  input.scale_side = scale_side;
  return std::make_shared<Scaling>(p, bound.query, input);
}

// Returns a network's E[x0 | query].
Tensor answer(const BoundDenoiser& network, const BoundQuery& bound) {
  NetworkInput input = network.input;
  input.scale_side = bound.input.scale_side;
  check(input == bound.input,
        "query: made for the input ",
        to_string(bound.input),
        ", the network has ",
        to_string(network.input));
  check(network.channels == 0 || bound.query.x.size(1) == network.channels,
        "query: images of ",
        bound.query.x.size(1),
        " channels; the network takes ",
        network.channels);
  plain_tensor("query", bound.query.x, network.device);
  return network.denoiser->mean(bound.query);
}

// Networks may answer in half precision.
const Tensor& as_images(const char* name, const Tensor& x, const Tensor& like) {
  check(x.layout() == at::kStrided && !x.is_nested() && x.sizes() == like.sizes(),
        name,
        ": dense images of ",
        to_string(like.sizes()),
        " are wanted, like the query's");
  check(x.is_floating_point() && x.device() == like.device(),
        name,
        ": floating-point numbers on ",
        like.device(),
        " are wanted, got ",
        x.dtype().name(),
        " on ",
        x.device());
  return x;
}

}  // namespace

void bind_queries(py::module_& m) {
  py::class_<BoundQuery>(
      m, "Query", "What a network of the posterior sees at (x_t, y, sigma); eps.query makes one.")
      .def_property_readonly(
          "x",
          [](const BoundQuery& q) { return q.query.x; },
          "The pivot, or x_t for inputs without one, (N, C, H, W).")
      .def_property_readonly(
          "sigma",
          [](const BoundQuery& q) { return q.query.sigma; },
          "The noise level of x_t, a number or (N, 1, 1, 1).")
      .def_property_readonly(
          "side",
          [](const BoundQuery& q) -> std::optional<Tensor> {
            if (!q.query.side.defined()) return {};
            return q.query.side;
          },
          "The channels beside x, (N, C', H, W), or None.")
      .def_property_readonly(
          "inputs",
          [](const BoundQuery& q) { return to_string(q.input); },
          "The name of the input, such as \"eps\".");
  m.def("query", &query_of, Release());
  m.def("prior_query", &prior_query_of, Release());
  m.def("pivot", &pivot_of, Release());
  m.def("answer", &answer, Release());
  m.def(
      "power_spectrum",
      [](const Tensor& images) {
        check(images.dim() == 4 && images.numel() > 0, "power_spectrum: N x C x H x W is wanted");
        return power_spectrum(plain_tensor("power_spectrum", images, images.device()));
      },
      Release());
  py::class_<Preconditioning>(m, "Preconditioning")
      .def_property_readonly("sigma_min", &Preconditioning::sigma_min)
      .def_property_readonly("sigma_max", &Preconditioning::sigma_max);
  m.def("preconditioning", &preconditioning_of);
  m.def("preconditioning_in", &preconditioning_in);
  m.def("input_name", [](const std::string& inputs) { return to_string(parse_input(inputs)); });
  m.def("inputs_in", [](const std::string& config) {
    const NetworkInput input = parse_model_config(config).input;
    return std::pair{to_string(input), input.scale_side};
  });
  py::class_<Scaling, std::shared_ptr<Scaling>>(
      m, "Scaling", "The coefficients of D = c_skip x + c_out F(c_in x, side; c_noise) at a query.")
      .def(py::init(&scaling_of), Release())
      .def("input",
           &Scaling::input,
           "Returns what F gets, float32 (N, C (1 + side channels), H, W).",
           Release())
      .def_property_readonly(
          "noise_label", &Scaling::noise_label, "c_noise, which F gets beside it, (N) or (1).")
      .def(
          "mean",
          [](const Scaling& s, const Tensor& f) { return s.mean(as_images("answer", f, s.x)); },
          "Returns the estimate D of F's answer.",
          Release())
      .def(
          "target",
          [](const Scaling& s, const Tensor& x0) { return s.target(as_images("x0", x0, s.x)); },
          "Returns the answer of F for which D = x0.",
          Release())
      .def("mean_square_out",
           &Scaling::mean_square_out,
           "Returns the mean of c_out^2 over all directions.",
           Release());
}

}  // namespace eps::python
