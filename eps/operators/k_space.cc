// Which frequencies of k-space a Cartesian scan measures.
#include "eps/operators/k_space.h"

#include <cmath>

#include "eps/operators/parameter_file.h"

namespace eps {

Tensor draw_columns(const Spec& spec, const Tensor& like, Rng& rng) {
  const int64_t height = like.size(2), width = like.size(3);
  const double kept = 1 / spec.real("acceleration");
  const double central = spec.real("center");
  check(
      central <= kept, spec.name(), ": center=", central, " is more than 1/acceleration = ", kept);
  const Tensor random = rng.uniform({like.size(0), width});
  // `distance` orders columns by their distance from the zero frequency, in fft order. k comes
  // before -k, so that no two columns are equal and the order does not depend on the sort.
  const Tensor index = at::arange(width, random.options());
  const Tensor distance = 2 * at::minimum(index, static_cast<double>(width) - index) +
                          (2 * index > static_cast<double>(width)).to(at::kDouble);
  const auto count = [width](double fraction) {
    return static_cast<int64_t>(std::llround(fraction * static_cast<double>(width)));
  };
  // Central columns come first, then the others in random order.
  const Tensor is_central = at::zeros({width}, random.options())
                                .index_fill(0, distance.argsort().slice(0, 0, count(central)), 1);
  const Tensor order = random - 2 * is_central;
  const Tensor chosen =
      at::argsort(order, int64_t{1}, false).slice(1, 0, std::max<int64_t>(1, count(kept)));
  const Tensor columns = at::zeros_like(random).scatter(1, chosen, 1);
  return columns.unsqueeze(1).expand({-1, height, -1}).to(like.device());
}

Tensor read_frequency_mask(const Spec& spec, const std::string& path, const Tensor& like) {
  const Tensor mask = read_mask_file(path, like);
  return spec.text("zero") == "center" ? at::fft_ifftshift(mask, at::IntArrayRef({1, 2})) : mask;
}

std::vector<Field> column_fields() {
  return {
      Field::real("acceleration", "4", at_least(1), "columns over columns kept"),
      Field::real(
          "center", "0.08", {0, 1}, "fraction of columns around the zero frequency, always kept")};
}

Field zero_field() {
  return Field::choice(
      "zero", "center", {"center", "corner"}, "where the mask has the zero frequency");
}

}  // namespace eps
