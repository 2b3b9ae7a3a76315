// The valid part of a convolution, on frames too large for dense matrices.
#include "eps/operators/framed_blur.h"

#include <algorithm>

#include "eps/base/lasting.h"
#include "eps/math/partial_fractions.h"
#include "eps/math/spectrum.h"
#include "eps/operators/probed.h"

namespace eps {
namespace {

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
      : Probed(A), A_(A), basis_(A.blur_.power(A.mask_.exact()).max().item<double>(), 24, 2.5) {}

  Tensor filter(const Tensor& x, const EigenvalueMap& f) const override {
    return filters(x, {f})[0];
  }

  std::vector<Tensor> filters(const Tensor& x,
                              const std::vector<EigenvalueMap>& functions) const override {
    const PartialFractions fractions = basis_.fit(functions, kFit);
    const Tensor wide = x.to(at::kDouble), h = A_.blur_.transfer(wide);
    const Tensor power = A_.blur_.power(wide), hat = at::fft_rfft2(wide);
    const Tensor w = fractions.weights.to(x.device());
    std::vector<Tensor> sums(functions.size());
    corrections(h * hat, power, fractions.first, [&](int64_t j, const Tensor& term) {
      for (size_t i = 0; i < functions.size(); ++i) {
        const Tensor own = w[static_cast<int64_t>(i)].select(1, 1 + j - fractions.first);
        const Tensor part = own.reshape({-1, 1, 1, 1}) * term;
        sums[i] = sums[i].defined() ? sums[i] + part : part;
      }
    });
    const Shape frame{x.size(2), x.size(3)};
    const Tensor back = h.conj();
    std::vector<Tensor> all;
    for (size_t i = 0; i < functions.size(); ++i) {
      Tensor answer = functions[i](power) * hat;
      if (sums[i].defined()) answer = answer + back * sums[i];
      all.push_back(at::fft_irfft2(answer, at::IntArrayRef(frame)).to(x.scalar_type()));
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

  // Calls `use` with each shift j from `first` on and what the border corrects of
  // s_j (A'A + s_j)^{-1} x, but for the factor conj(h): blurred is the spectrum of H x. The
  // solution times s_j varies little from one shift to the next, which begins there.
  void corrections(const Tensor& blurred,
                   const Tensor& power,
                   int64_t first,
                   const std::function<void(int64_t j, const Tensor& term)>& use) const {
    Tensor solved;
    for (int64_t j = first; j < std::ssize(basis_.shifts()); ++j) {
      const double s = shift(j);
      const Tensor gain = s / (power + s);
      const Solution found =
          A_.solve_border(gain,
                          inverses(j, gain),
                          A_.bands_.from_spectrum(blurred / (power + s)),
                          {.tolerance = kTolerance,
                           .start = solved.defined() ? solved * (shift(j - 1) / s) : Tensor()});
      solved = found.u;
      use(j, gain * A_.bands_.into_spectrum(solved));
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
    const Tensor h = A_.blur_.transfer(probe), back = h.conj();
    std::vector<Tensor> all;
    corrections(
        h * at::fft_rfft2(probe), A_.blur_.power(probe), 0, [&](int64_t, const Tensor& term) {
          const Tensor image = at::fft_irfft2(back * term, at::IntArrayRef(frame));
          all.push_back((image * probe).mean());
        });
    border_means_ = at::stack(all).cpu();
    return border_means_;
  }

  // Returns the inverses of shift j, which are kept while they are not too large.
  Bands::Inverses inverses(int64_t j, const Tensor& gain) const {
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

Solution FramedBlur::solve_border(const Tensor& gain,
                                  const Bands::Inverses& inverses,
                                  const Tensor& wanted,
                                  ConjugateGradientsOptions options) const {
  options.max_iterations = 2000;
  options.precondition = [&](const Tensor& u) { return bands_.solve(inverses, u); };
  return solve_conjugate_gradients(
      [&](const Tensor& u) { return bands_.from_spectrum(gain * bands_.into_spectrum(u)); },
      wanted,
      options);
}

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
  const Tensor direct = at::fft_rfft2(r) * h.conj() / (power + s);
  const Tensor noise = s * batch_dot(r, r) / (spectral_mean(power, frame[1]) + s);
  const Solution found = solve_border(gain,
                                      bands_.inverses(gain),
                                      bands_.from_spectrum(h * direct),
                                      {.tolerance = 1e-13, .energy = (noise * energy).squeeze(3)});
  iterations_ = found.iterations;
  const Tensor all = direct + bands_.into_spectrum(found.u) * h.conj() / (power + s);
  return at::fft_irfft2(all, at::IntArrayRef(frame)).to(given.scalar_type());
}

std::unique_ptr<const Spectral> FramedBlur::make_functions() const {
  const Lasting kept;
  return std::make_unique<Resolvents>(*this);
}

}  // namespace eps
