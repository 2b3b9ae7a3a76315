// Projections on the range of A' and on the null space of A.
#include "eps/metrics/measured_part.h"

#include <algorithm>
#include <cmath>

#include "eps/base/random.h"
#include "eps/metrics/ensemble.h"
#include "eps/metrics/evaluation.h"

namespace eps {
namespace {

// A `Split` holds P x of a batch, and P z of a probe z.
struct Split {
  Tensor samples, truth, probe;
};

// Returns z ~ N(0, I), the same for all images, (N, C, H, W). P is a projection, so (P z)_i has the
// variance P_ii: it is 0 in the pixels that have no such part, and nowhere else but by a chance of
// one in a million.
Tensor probe_like(const Tensor& images) {
  Shape shape = images.sizes().vec();
  shape[0] = 1;
  return Rng(0).normal(shape).to(images.options()).expand_as(images);
}
Tensor in_part(const Tensor& probe) { return probe.abs() > 1e-6; }

// Returns P x of the images [begin, begin + n) of a problem. An operator with a map for each image
// takes all of them at once.
Tensor part_of_some(const Problem& problem, const Tensor& x, int64_t begin) {
  const Tensor images = x.to(problem.y.device());
  const int64_t maps = problem.A->format().batch();
  if (maps == 1) return measured_part(*problem.A, images).to(x.device());
  Shape shape = x.sizes().vec();
  shape[0] = maps;
  const Tensor all = at::zeros(shape, images.options());
  all.narrow(0, begin, x.size(0)).copy_(images);
  return measured_part(*problem.A, all).narrow(0, begin, x.size(0)).to(x.device());
}

// Returns P x for images of the batch, from the problems that hold them.
Tensor part_of_batch(const Ensemble& batch, const Tensor& x) {
  std::vector<Tensor> parts;
  int64_t first = 0;  // image of the problem
  for (const Problem& problem : *batch.options.problems) {
    const int64_t last = first + problem.y.size(0);
    const int64_t begin = std::max(first, batch.first);
    const int64_t end = std::min(last, batch.first + x.size(0));
    if (begin < end)
      parts.push_back(
          part_of_some(problem, x.slice(0, begin - batch.first, end - batch.first), begin - first));
    first = last;
  }
  return at::cat(parts);
}

Split split(const Ensemble& batch) {
  return batch.once("measured_part", [&] {
    std::vector<Tensor> samples;
    for (const Tensor& sample : batch.samples.unbind(0))
      samples.push_back(part_of_batch(batch, sample));
    return Split{at::stack(samples),
                 part_of_batch(batch, batch.truth),
                 part_of_batch(batch, probe_like(batch.truth))};
  });
}

}  // namespace

Tensor measured_part(const LinearOperator& A, const Tensor& x) {
  return spectral_of(A, "measured_part:").filter(x, [](const Tensor& e) {
    return (e != 0).to(e.scalar_type());
  });
}

std::string missing_part(const std::vector<Problem>& problems) {
  bool measured = false, unmeasured = false;
  for (const Problem& problem : problems) {
    if (!problem.A->spectral()) return "needs an operator with a fast basis";
    const Tensor z = probe_like(at::empty(problem.image(), problem.y.options().dtype(at::kDouble)));
    const Tensor part = measured_part(*problem.A, z);
    measured = measured || in_part(part).any().item<bool>();
    unmeasured = unmeasured || in_part(z - part).any().item<bool>();
  }
  if (!measured) return "needs a measurement";
  return unmeasured ? "" : "needs an operator that leaves something unmeasured";
}

Tensor for_each_part(const Ensemble& batch,
                     Part part,
                     const std::function<Tensor(const Ensemble& image)>& f) {
  const Split P = split(batch);
  const auto chosen = [part](const Tensor& whole, const Tensor& measured) {
    return part == Part::measured ? measured : whole - measured;
  };
  const Tensor pixels = in_part(chosen(probe_like(batch.truth), P.probe));
  const Tensor samples = chosen(batch.samples, P.samples), truth = chosen(batch.truth, P.truth);
  std::vector<Tensor> values;
  for (int64_t n = 0; n < truth.size(0); ++n) {
    const Tensor places = pixels[n].flatten().nonzero().flatten();
    const bool none = places.numel() == 0;
    const Tensor used = none ? at::zeros({1}, places.options()) : places;
    const Ensemble image{
        .samples = samples.select(1, n).flatten(1).index_select(1, used).unsqueeze(1),
        .truth = truth[n].flatten().index_select(0, used).unsqueeze(0),
        .options = batch.options,
        .first = batch.first + n};
    values.push_back(none ? f(image) * NAN : f(image));
  }
  return at::cat(values);
}

}  // namespace eps
