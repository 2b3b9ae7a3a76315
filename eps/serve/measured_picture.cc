// What an operator makes of a picture, and the noise of a patch of it.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "eps/base/json_fields.h"
#include "eps/io/array.h"
#include "eps/io/images/image.h"
#include "eps/io/images/picture.h"
#include "eps/io/images/resize.h"
#include "eps/restore/noise_level.h"
#include "eps/serve/endpoints.h"
#include "eps/serve/form.h"

namespace eps::serve {
namespace {

constexpr int64_t kMostPreview = 512, kLeastPatch = 8;

// Returns a picture that is at most kMostPreview pixels long, and by how much it is reduced.
std::pair<Tensor, double> reduced(const Tensor& picture) {
  const int64_t height = picture.size(1), width = picture.size(2), side = std::max(height, width);
  if (side <= kMostPreview) return {picture, 1};
  return {resize_lanczos(picture,
                         std::max<int64_t>(height * kMostPreview / side, 1),
                         std::max<int64_t>(width * kMostPreview / side, 1)),
          static_cast<double>(kMostPreview) / static_cast<double>(side)};
}

// Returns the measurement of a picture by the operator, with the noise that is stated, or none.
Tensor measured_picture(const RestorationRequest& request) {
  const NetworkShape any{.name = "the preview", .channels = 3};
  const OperatorChoice chosen = choose_operator(request.operator_options, 0, /*simulate=*/true);
  const bool is_noisy = request.sigma_y || !request.noise.is_white();
  const Measurement made = simulate_measurement(request.input,
                                                chosen,
                                                is_noisy ? request.sigma_y.value_or(0) : 0,
                                                request.noise,
                                                request.options.seed,
                                                any);
  return made.problem.A->format().picture(made.problem.y)[0];
}

}  // namespace

Answer preview(Site& site, const Request& request) {
  const auto form = read_form(request, {"image", "mask", "kernel", "noise_map"});
  const Upload upload(site);
  const auto bench = site.bench.take();
  const RestorationRequest wanted = measurement_of_form(site, *form, upload);
  const auto [picture, scale] = reduced(to_uint8(measured_picture(wanted)));
  return {.type = "image/png",
          .body = encode_png(picture, "the preview"),
          .headers = {{"X-Eps-Scale", std::to_string(scale)}}};
}

Answer noise(Site& site, const Request& request) {
  const auto form = read_form(request, {"image"});
  const Upload upload(site);
  const auto bench = site.bench.take();
  const GivenPicture picture = given_picture(site, *form, upload);
  JsonFields fields(form->options, "options");
  fields.find("demo");
  const auto x = fields.get<int64_t>("x"), y = fields.get<int64_t>("y");
  const auto width = fields.get<int64_t>("width"), height = fields.get<int64_t>("height");
  fields.finish();
  Tensor values = is_array_path(picture.path) ? read_array(picture.path).to(at::kDouble)
                                              : read_picture(picture.path).values().to(at::kDouble);
  while (values.dim() < 4) values = values.unsqueeze(0);
  check(x >= 0 && y >= 0 && width >= kLeastPatch && height >= kLeastPatch &&
            x <= values.size(3) - width && y <= values.size(2) - height,
        "options: a patch of at least ",
        kLeastPatch,
        " x ",
        kLeastPatch,
        " pixels within the picture is wanted");
  const Tensor patch = values.narrow(2, y, height).narrow(3, x, width).contiguous();
  const double sigma = robust_noise_level(patch);
  return json_answer({{"grey_levels", sigma / kGreyLevel}, {"sigma", sigma}});
}

}  // namespace eps::serve
