// The valid part of a convolution, on frames too large for dense matrices.
#include "eps/operators/framed_blur.h"

#include <algorithm>

#include "eps/base/lasting.h"
#include "eps/math/partial_fractions.h"
#include "eps/math/spectrum.h"
#include "eps/operators/probed.h"

namespace eps {
namespace {

constexpr int64_t kMostIterations = 2000;

// A `Part` takes its images and channels from tensors for all, (N or 1, C or 1, ...).
using Part = std::function<Tensor(const Tensor& all)>;

// Calls `use` with parts of x, (N, C, ...): single channels on a CPU, whose caches hold the
// temporaries of one, and all at once on a GPU. `own` takes a part from tensors whose dimensions
// are (N or 1, C or 1, ...), or, without channels, (N or 1, ...).
void in_parts(const Tensor& x,
              const std::function<void(const Part& own, const Part& without_channels)>& use) {
  const int64_t images = x.is_cpu() ? 1 : x.size(0), channels = x.is_cpu() ? 1 : x.size(1);
  for (int64_t n = 0; n < x.size(0); n += images)
    for (int64_t c = 0; c < x.size(1); c += channels) {
      const Part of_images = [&](const Tensor& all) {
        return !all.defined() || all.size(0) == 1 ? all : all.narrow(0, n, images);
      };
      use(
          [&](const Tensor& all) {
            const Tensor some = of_images(all);
            return some.size(1) == 1 ? some : some.narrow(1, c, channels);
          },
          of_images);
    }
}

Tensor inside_mask(const CircularBlur& blur, const FramedBlur::Inside& inside) {
  const Tensor mask =
      at::zeros({1, 1, blur.height(), blur.width()}, blur.kernel().options().dtype(at::kDouble));
  mask.narrow(2, inside.top, inside.height).narrow(3, inside.left, inside.width).fill_(1);
  return mask;
}

Bands border_of(const CircularBlur& blur, const FramedBlur::Inside& inside) {
  const at::Device device = blur.kernel().device();
  return {circle_outside(blur.height(), inside.top, inside.height, device),
          circle_outside(blur.width(), inside.left, inside.width, device),
          blur.height(),
          blur.width()};
}

}  // namespace

class FramedBlur::Resolvents final : public Probed {
 public:
  explicit Resolvents(const FramedBlur& A)
      : Probed(A), A_(A), basis_(A.blur_.power(A.mask_.exact()).max().item<double>(), 16, 4) {}

  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return filters(x, {f})[0];
  }

  std::vector<Tensor> filters(const Tensor& x,
                              const std::vector<EigenvalueMap>& functions) const override {
    const PartialFractions fractions = basis_.fit(functions, kFit);
    const Tensor wide = x.to(at::kDouble), h = A_.blur_.transfer(wide);
    const Tensor power = A_.blur_.power(wide), hat = at::fft_rfft2(wide), back = h.conj();
    const Tensor w = fractions.weights.to(x.device());
    std::vector<Tensor> sums, all;
    for (size_t i = 0; i < functions.size(); ++i) sums.push_back(at::zeros_like(hat));
    corrections(wide, hat, fractions.first, [&](int64_t j, const Part& own, const Tensor& term) {
      for (size_t i = 0; i < functions.size(); ++i) {
        const Tensor weight = w[static_cast<int64_t>(i)].select(1, 1 + j - fractions.first);
        own(sums[i]).add_(own(weight.reshape({-1, 1, 1, 1})) * term);
      }
    });
    const Shape frame{x.size(2), x.size(3)};
    for (size_t i = 0; i < functions.size(); ++i) {
      const Tensor gain = functions[i](power);
      all.push_back(at::empty_like(x));
      in_parts(x, [&](const Part& own, const Part&) {
        const Tensor answer = own(gain) * own(hat) + back * own(sums[i]);
        own(all[i]).copy_(at::fft_irfft2(answer, at::IntArrayRef(frame)));
      });
    }
    return all;
  }

  // The mean of a function is that of its resolvents, whose means are kept.
  Tensor mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const override {
    const PartialFractions fractions = basis_.fit({f}, kFit);
    const Tensor border = border_means(like).slice(0, fractions.first);
    const Tensor sum = at::matmul(fractions.weights[0].slice(1, 1), border).reshape({-1, 1, 1, 1});
    const Tensor circular = f(A_.blur_.power(like.to(at::kDouble)));
    return (spectral_mean(circular, like.size(3)) + sum.to(like.device()))
        .expand({like.size(0), 1, 1, 1})
        .to(like.scalar_type());
  }

  // A'A has the diagonal sum_j m_j H_ji^2: the mask, correlated with the squares of the kernel.
  Tensor normal_diagonal(const Tensor& like) const override {
    const CircularBlur squares(A_.blur_.kernel().square(), like.size(2), like.size(3));
    return squares.adjoint(A_.mask_.exact()).clamp_min(0).to(like.options());
  }

  // The power depends on the kernel and the spectrum, and little on the size of the frame: the fit
  // is that of a small one, for one channel as for all.
  EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const override {
    const Tensor& kernel = A_.blur_.kernel();
    const int64_t side = std::max<int64_t>(192, 6 * std::max(kernel.size(1), kernel.size(2)));
    const int64_t height = std::min(side, like.size(2)), width = std::min(side, like.size(3));
    if (height == like.size(2) && width == like.size(3)) return Probed::prior_power(spectrum, like);
    const Inside& inside = A_.inside_;
    const FramedBlur small(CircularBlur(kernel, height, width),
                           {inside.top,
                            inside.left,
                            height - (like.size(2) - inside.height),
                            width - (like.size(3) - inside.width)});
    return small.functions().prior_power(
        resampled_spectrum(spectrum.to(at::kDouble), height, width),
        at::zeros({1, 1, height, width}, like.options()));
  }

 private:
  static constexpr double kTolerance = 1e-2;  // of the corrections
  static constexpr double kFit = 3e-3;        // of the functions
  // From this part of the largest shift on, rounding in single precision is far below the
  // tolerance: the matrix on the border has eigenvalues from about the part to 1.
  static constexpr double kLeastSingle = 1e-4;

  // Calls `use` with each shift j from `first` on, each part of the images x, whose spectrum is
  // hat, and what the border corrects there of s_j (A'A + s_j)^{-1} x, but for the factor conj(h).
  // The solution times s_j varies little from one shift to the next, which begins there.
  void corrections(
      const Tensor& x,
      const Tensor& hat,
      int64_t first,
      const std::function<void(int64_t j, const Part& own, const Tensor& term)>& use) const {
    const Tensor h = A_.blur_.transfer(x), power = A_.blur_.power(x);
    const double least_single = kLeastSingle * basis_.shifts().back();
    const Tensor solved =
        at::zeros({x.size(0), x.size(1), A_.bands_.columns(), x.size(2)}, x.options());
    for (int64_t j = first; j < std::ssize(basis_.shifts()); ++j) {
      const double s = shift(j);
      const bool single = s >= least_single;
      const Tensor gain = s / (power + s);
      const Bands::Inverses inverses = inverses_of(j, gain);
      const Tensor symbol = gain.to(single ? at::kFloat : at::kDouble);
      const Tensor blur = (h / (power + s)).to(single ? at::kComplexFloat : at::kComplexDouble);
      if (j > first) solved.mul_(shift(j - 1) / s);
      in_parts(x, [&](const Part& own, const Part&) {
        const Bands::Solved found = A_.bands_.solve(
            symbol,
            inverses,
            blur * own(hat).to(blur.scalar_type()),
            {.tolerance = kTolerance, .max_iterations = kMostIterations, .start = own(solved)});
        own(solved).copy_(found.columns.u);
        use(j, own, found.spectrum);
      });
    }
  }
  double shift(int64_t j) const { return basis_.shifts()[static_cast<size_t>(j)]; }

  // Returns the mean eigenvalue of what the border corrects of each resolvent s (A'A + s)^{-1}, by
  // a probe of random signs, on the CPU. It is the same for all images, and computed once.
  Tensor border_means(const Tensor& like) const {
    const std::lock_guard lock(means_mutex_);
    if (border_means_.defined()) return border_means_;
    const Lasting means;
    constexpr int64_t kProbes = 3;
    const Shape frame{like.size(2), like.size(3)};
    const Tensor probe = random_signs(
        at::zeros({1, kProbes, frame[0], frame[1]}, like.options().dtype(at::kDouble)));
    const Tensor back = A_.blur_.transfer(probe).conj();
    std::vector<double> all(basis_.shifts().size(), 0.0);
    corrections(
        probe, at::fft_rfft2(probe), 0, [&](int64_t j, const Part& own, const Tensor& term) {
          const Tensor image = at::fft_irfft2(back * term, at::IntArrayRef(frame));
          all[static_cast<size_t>(j)] +=
              (image * own(probe)).sum().item<double>() / static_cast<double>(probe.numel());
        });
    border_means_ = at::tensor(all, at::kDouble);
    return border_means_;
  }

  // Returns the inverses of shift j, which are kept while they are not too large.
  Bands::Inverses inverses_of(int64_t j, const Tensor& gain) const {
    constexpr int64_t kMost = 16000000;  // numbers of all shifts: 256 MB
    const std::lock_guard lock(mutex_);
    const auto known = inverses_.find(j);
    if (known != inverses_.end() && known->second.device() == gain.device()) return known->second;
    const Lasting matrices;
    const Bands::Inverses made = A_.bands_.inverses(gain);
    const auto numbers = [](const Tensor& t) { return t.defined() ? t.numel() : 0; };
    if (std::ssize(basis_.shifts()) * (numbers(made.rows) + numbers(made.columns)) <= kMost)
      inverses_[j] = made;
    return made;
  }

  const FramedBlur& A_;
  const ResolventBasis basis_;
  mutable std::mutex mutex_;
  mutable std::map<int64_t, Bands::Inverses> inverses_;
  mutable std::mutex means_mutex_;
  mutable Tensor border_means_;
};

FramedBlur::FramedBlur(const CircularBlur& blur, const Inside& inside)
    : blur_(blur.kernel(), blur.height(), blur.width()),
      inside_(inside),
      mask_(inside_mask(blur, inside)),
      bands_(border_of(blur, inside)) {}

Tensor FramedBlur::apply(const Tensor& x) const { return measured(blur_.apply(x)); }
Tensor FramedBlur::adjoint(const Tensor& y) const { return blur_.adjoint(measured(y)); }

Tensor FramedBlur::ridge(const Tensor& r, const Tensor& lambda) const {
  return solve(r, lambda, 0);
}

// r = y - A z of a state z has |r|^2 of about n (mean |h|^2 sigma^2 + sigma_y^2), and lambda is
// (sigma_y/sigma)^2, so that solve() knows n sigma_y^2, the energy of the pivot's own noise. The
// estimate of the error's energy may be too small several times over.
Tensor FramedBlur::proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const {
  constexpr double kEstimate = 1.0 / 16;
  return z + solve(y - apply(z), lambda, kEstimate * kError * kError);
}

Tensor FramedBlur::solve(const Tensor& given, const Tensor& lambda, double energy) const {
  const Tensor r = measured(given.to(at::kDouble));
  const Tensor s = lambda.to(r.options()).reshape({-1, 1, 1, 1});
  if ((s <= 0).any().item<bool>()) return LinearOperator::ridge(given, lambda);
  const Shape frame{r.size(2), r.size(3)};
  const Tensor h = blur_.transfer(r), power = blur_.power(r), gain = s / (power + s);
  const Bands::Inverses inverses = bands_.inverses(gain);
  const Tensor noise = s * batch_dot(r, r) / (spectral_mean(power, frame[1]) + s);
  const Tensor x = at::empty_like(given);
  iterations_ = 0;
  in_parts(r, [&](const Part& own, const Part& of_images) {
    const Tensor hat = own(gain) * at::fft_rfft2(own(r));
    const double share = static_cast<double>(hat.size(1)) / static_cast<double>(r.size(1));
    const Bands::Solved found =
        bands_.solve(own(gain),
                     {of_images(inverses.rows), of_images(inverses.columns)},
                     power * hat / of_images(s),
                     {.tolerance = 1e-13,
                      .max_iterations = kMostIterations,
                      .energy = of_images(noise) * (share * energy)});
    iterations_ = std::max(iterations_.load(), found.columns.iterations);
    const Tensor all = h.conj() * (hat + found.spectrum) / of_images(s);
    own(x).copy_(at::fft_irfft2(all, at::IntArrayRef(frame)));
  });
  return x;
}

std::unique_ptr<const Spectral> FramedBlur::make_functions() const {
  const Lasting kept;
  return std::make_unique<Resolvents>(*this);
}

}  // namespace eps
