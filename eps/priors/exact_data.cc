// Exact data are drawn from a known prior.
#include "eps/priors/exact_data.h"

#include "eps/priors/mixture.h"
#include "eps/priors/stationary.h"

namespace eps {

const std::vector<Field>& exact_data_fields() {
  static const std::vector<Field> fields = {
      Field::choice("prior",
                    "mixture",
                    {"gaussian", "mixture", "stationary"},
                    "stationary: Gaussian, as photographs"),
      Field::integer("size",
                     "8",
                     {1, 4096},
                     "side in pixels; gaussian and mixture compute with dense matrices"),
      Field::integer("channels", "1", {1, 64}, "channels"),
      Field::integer("components", "2", {1, 64}, "of the mixture"),
      Field::integer("seed", "0", at_least(0), "of the prior and of the images")};
  return fields;
}

bool is_exact_data(const std::string& spec) {
  return spec == "exact" || spec.starts_with("exact:");
}

ExactData draw_exact_data(const std::string& text, int64_t images) {
  const Spec spec = Spec::parse(text).resolve(exact_data_fields());
  const std::string kind = spec.text("prior");
  const int64_t size = spec.integer("size"), channels = spec.integer("channels");
  const auto seed = static_cast<uint64_t>(spec.integer("seed"));
  Rng rng(derive_seed(seed, Stream::exact_images), images);
  if (kind == "stationary") {
    const auto prior = std::make_shared<Stationary>(at::zeros({1, size, size}, at::kDouble),
                                                    natural_spectrum(size, size));
    return {prior->sample(rng, {images, channels, size, size}), prior};
  }
  check(channels * size * size <= 4096,
        text,
        ": a dense prior takes images of at most 4096 numbers, got ",
        channels * size * size);
  const int64_t components = kind == "gaussian" ? 1 : spec.integer("components");
  const auto prior =
      std::make_shared<Mixture>(example_mixture({channels, size, size}, components, seed));
  return {prior->sample(rng, images), prior};
}

}  // namespace eps
