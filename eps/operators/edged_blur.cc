// A circular blur whose rows near the border are others.
#include "eps/operators/edged_blur.h"

#include "eps/math/dense_solve.h"

namespace eps {

class EdgedBlur::Resolvents final : public DenseResolvents {
 public:
  explicit Resolvents(const EdgedBlur& A) : DenseResolvents(A, largest_eigenvalue(A)), A_(A) {}

  // The columns of H have the norm of the kernel; those of A differ by 2 H_B'D + D'D.
  Tensor normal_diagonal(const Tensor& like) const override {
    const int64_t height = A_.blur_.height(), width = A_.blur_.width();
    const Tensor h = A_.blur_.transfer(A_.any_image(A_.D_)).flatten(0, 1);
    const Tensor seen = A_.across_->of(h)[0];
    const Tensor change = (A_.D_ * (2 * seen + A_.D_)).sum(0);
    const Tensor all =
        A_.blur_.kernel().square().sum() + scatter(change, A_.columns_, height, width);
    return all.clamp_min(0).reshape({1, 1, height, width}).to(like.options());
  }

 private:
  // |A|^2 is at most (|H| + |D|)^2.
  static double largest_eigenvalue(const EdgedBlur& A) {
    const double edge = at::linalg_matrix_norm(A.D_, 2).item<double>();
    const double inside = A.blur_.power(A.any_image(A.D_)).max().sqrt().item<double>();
    return (inside + edge) * (inside + edge);
  }

  int64_t rows() const override { return 2 * A_.rows_.numel(); }
  Tensor exact_ridge(const Tensor& r, const Tensor& lambda) const override {
    return A_.exact_ridge(r, lambda);
  }

  Tensor make_inverse(const Tensor& shift) const override {
    return at::linalg_inv(A_.dense(shift)[0]);
  }

  // The terms are s (A'A + s)^{-1} x in the Fourier domain.
  Tensor terms(const Tensor& x, const Tensor& s, const Solve& solve) const override {
    const Tensor gain = 1 / (A_.blur_.power(x) + s);
    const Tensor direct = gain * at::fft_rfft2(x);
    return s * (direct - gain * A_.from_border(solve(A_.into_border(direct))));
  }

  const EdgedBlur& A_;
};

bool EdgedBlur::supports(const Tensor& kernel, int64_t places) {
  return kernel.size(0) == 1 && places > 0 && 2 * places <= kLargestDense;
}

EdgedBlur::EdgedBlur(const CircularBlur& H, const LinearOperator& A, const Tensor& B)
    : blur_(H.kernel(), H.height(), H.width()), rows_(B), seen_(B, B, H.height(), H.width()) {
  const auto difference = [&](const Tensor& values) {  // D' v of each row: (rows, pixels)
    const Tensor y = scatter(values, B, H.height(), H.width()).unsqueeze(1);
    return (A.adjoint(y) - H.adjoint(y)).flatten(1);
  };
  // Random rows touch every pixel that D reads; elsewhere the two differ by rounding.
  const Tensor touched =
      difference(Rng(0).normal({2, B.size(0)}, H.kernel().options())).abs().amax(0);
  columns_ = places_where(touched > 1e-13 * H.kernel().abs().sum());
  const Tensor units = at::eye(B.size(0), H.kernel().options());
  std::vector<Tensor> rows;
  for (const Tensor& some : units.split(64))
    rows.push_back(difference(some).index_select(1, columns_));
  D_ = at::cat(rows);
  across_.emplace(B, columns_, H.height(), H.width());
  edge_.emplace(columns_, columns_, H.height(), H.width());
}

Tensor EdgedBlur::any_image(const Tensor& like) const {
  return at::empty({1, 1, blur_.height(), blur_.width()}, like.options());
}

Tensor EdgedBlur::apply(const Tensor& x) const {
  const Tensor edge = at::matmul(gather(x, columns_), D_.t().to(x.options()));
  return blur_.apply(x) + scatter(edge, rows_, blur_.height(), blur_.width());
}

Tensor EdgedBlur::adjoint(const Tensor& y) const {
  const Tensor edge = at::matmul(gather(y, rows_), D_.to(y.options()));
  return blur_.adjoint(y) + scatter(edge, columns_, blur_.height(), blur_.width());
}

Tensor EdgedBlur::into_border(const Tensor& hat) const {
  const Shape frame{blur_.height(), blur_.width()};
  const Tensor x = at::fft_irfft2(hat, at::IntArrayRef(frame));
  const Tensor seen = at::fft_irfft2(hat * blur_.transfer(any_image(x)), at::IntArrayRef(frame));
  return at::cat({gather(seen, rows_), at::matmul(gather(x, columns_), D_.t().to(x.options()))},
                 -1);
}

Tensor EdgedBlur::from_border(const Tensor& values) const {
  const int64_t k = rows_.size(0), height = blur_.height(), width = blur_.width();
  const Tensor seen = scatter(values.slice(-1, 0, k), rows_, height, width);
  const Tensor edge = at::matmul(values.slice(-1, k), D_.to(values.options()));
  return at::fft_rfft2(seen) * blur_.transfer(any_image(seen)).conj() +
         at::fft_rfft2(scatter(edge, columns_, height, width));
}

Tensor EdgedBlur::dense(const Tensor& shifts) const {
  const Tensor power = blur_.power(any_image(D_)).flatten(0, 1);
  const Tensor h = blur_.transfer(any_image(D_)).flatten(0, 1);
  const Tensor gain = 1 / (power + shifts.to(power.device()).reshape({-1, 1, 1}));
  const Tensor one = at::eye(rows_.size(0), D_.options());
  const Tensor seen = seen_.of(power * gain) - one;
  const Tensor across = at::matmul(across_->of(h * gain), D_.t()) + one;
  const Tensor edge = at::matmul(at::matmul(D_, edge_->of(gain)), D_.t());
  return at::cat({at::cat({seen, across}, 2), at::cat({across.transpose(1, 2), edge}, 2)}, 1);
}

Tensor EdgedBlur::exact_ridge(const Tensor& r, const Tensor& lambda) const {
  const Tensor S = dense(lambda).to(r.device());
  const Tensor gain = 1 / (blur_.power(r) + lambda.to(r.device()).reshape({-1, 1, 1, 1}));
  const Tensor direct = gain * at::fft_rfft2(adjoint(r));
  const Tensor border = into_border(direct);  // (N, C, 2 k)
  const Tensor columns = S.size(0) == 1 ? border.flatten(0, 1).unsqueeze(0) : border;
  const Tensor solved =
      dense_solve(S, columns.transpose(1, 2)).transpose(1, 2).reshape(border.sizes());
  const Shape frame{r.size(2), r.size(3)};
  return at::fft_irfft2(direct - gain * from_border(solved), at::IntArrayRef(frame));
}

Tensor EdgedBlur::ridge(const Tensor& r, const Tensor& lambda) const {
  const Tensor x = static_cast<const Resolvents&>(functions()).ridge(r, lambda);
  return x.defined() ? x : LinearOperator::ridge(r, lambda);
}

std::unique_ptr<const Spectral> EdgedBlur::make_functions() const {
  return std::make_unique<Resolvents>(*this);
}

}  // namespace eps
