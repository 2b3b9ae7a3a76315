// Data whose prior is known.
#include "eps/priors/exact_data.h"

#include "eps/priors/mixture.h"
#include "eps/priors/stationary.h"

namespace eps {

const std::vector<Field>& exact_data_fields() {
  static const std::vector<Field> fields = {
      {"prior", "mixture", "gaussian, mixture or stationary (Gaussian, as photographs)"},
      {"size", "8", "side in pixels; gaussian and mixture compute with dense matrices"},
      {"channels", "1", "channels"},
      {"components", "2", "of the mixture"},
      {"seed", "0", "of the prior and of the images"}};
  return fields;
}

bool is_exact_data(const std::string& spec) {
  return spec == "exact" || spec.starts_with("exact:");
}

ExactData draw_exact_data(const std::string& text, int64_t images) {
  const Spec spec = Spec::parse(text).resolve(exact_data_fields());
  const std::string kind = spec.text("prior");
  const int64_t size = spec.integer("size", 1, 4096), channels = spec.integer("channels", 1, 64);
  const auto seed = static_cast<uint64_t>(spec.integer("seed", 0, int64_t{1} << 53));
  Rng rng(derive_seed(seed, Stream::exact_images), images);
  if (kind == "stationary") {
    const auto prior = std::make_shared<Stationary>(at::zeros({1, size, size}, at::kDouble),
                                                    natural_spectrum(size, size));
    return {prior->sample(rng, {images, channels, size, size}), prior};
  }
  check(kind == "gaussian" || kind == "mixture",
        text,
        ": prior must be gaussian, mixture or stationary, got ",
        kind);
  check(channels * size * size <= 4096,
        text,
        ": a dense prior takes images of at most 4096 numbers, got ",
        channels * size * size);
  const int64_t components = kind == "gaussian" ? 1 : spec.integer("components", 1, 64);
  const auto prior =
      std::make_shared<Mixture>(example_mixture({channels, size, size}, components, seed));
  return {prior->sample(rng, images), prior};
}

}  // namespace eps
