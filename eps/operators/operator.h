// Linear operators: the map A of y = A x0 + sigma_y n, and the problem it poses.
//
// An operator is a batch of maps: its parameters (masks, kernels) are one for all images or one for
// each. An operator computes in the dtype and on the device of its argument; its own parameters are
// float64.
#pragma once

#include <mutex>

#include "eps/base/core.h"
#include "eps/base/random.h"

namespace eps {

// An `EigenvalueMap` maps a tensor of eigenvalues to a tensor of the same shape, or of one that
// broadcasts with it. Eigenvalues have the type and device of the image, but for operators without
// a fast basis: float64 on the CPU. per_sample() brings a number for each image there.
using EigenvalueMap = std::function<Tensor(const Tensor& eigenvalue)>;

// A `Basis` names the basis in which A'A is diagonal, and so the layout of the eigenvalues in a
// `Spectral`: `pixel` has the layout of the image, `fourier` that of the image's rfft2, and any
// `other` basis one of its own.
enum class Basis { pixel, fourier, other };

// A `Spectral` computes functions of A'A for an operator whose A'A is diagonal in a fast basis.
class Spectral {
 public:
  virtual ~Spectral() = default;
  virtual Basis basis() const = 0;
  // Returns whether A'A acts within each channel, so that a factor for each channel of A x makes
  // factors of the eigenvalues.
  virtual bool keeps_channels() const { return basis() != Basis::other; }

  // Returns f(A'A) x.
  virtual Tensor filter(const Tensor& x, const EigenvalueMap& f) const = 0;
  // Returns f(A'A) x of each function. Operators override filters() where functions share work: the
  // transform of x into the basis, or the iterations. The default filters once for each.
  virtual std::vector<Tensor> filters(const Tensor& x,
                                      const std::vector<EigenvalueMap>& functions) const;

  // Returns the diagonal of the matrix f(A'A), in a shape that broadcasts over images like `like`.
  // The default filters an impulse for each pixel and channel, which is correct and slow.
  virtual Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const;
  // Returns the diagonal of f(A'A) of a convex f that decreases, or where that takes hundreds of
  // products an estimate of it, which has its mean, and f(0) where nothing is measured.
  virtual Tensor quick_diagonal(const Tensor& like, const EigenvalueMap& f) const {
    return diagonal(like, f);
  }
  // Returns the diagonal of A'A itself.
  virtual Tensor normal_diagonal(const Tensor& like) const;
  // Returns the mean of the diagonal of f(A'A), the mean eigenvalue: (N, 1, 1, 1).
  virtual Tensor mean_eigenvalue(const Tensor& like, const EigenvalueMap& f) const;

  // Returns the power of the data along the eigendirections, in the layout of the eigenvalues, for
  // data whose power along the frequencies of rfft2 is `spectrum`. The default gives every
  // direction the mean power, which keeps the total but ignores the basis.
  virtual EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const;
  // Returns prior_power(), which is kept for the same spectrum and images of the same shape, type
  // and device: as many as there are maps, where each image has its own.
  EigenvalueMap kept_prior_power(const Tensor& spectrum, const Tensor& like, int64_t maps) const;

 private:
  mutable std::mutex mutex_;
  mutable Tensor spectrum_, image_;  // of power_; the image has no values
  mutable EigenvalueMap power_;
};

// A `MeasurementFormat` describes the measurements of an operator: how they look as images, and
// which maps the batch holds.
class MeasurementFormat {
 public:
  virtual ~MeasurementFormat() = default;

  // Returns y as an image of the size of x, for the network's side channel (App. B, Architecture).
  virtual Tensor picture(const Tensor& y) const = 0;

  // Returns y with zeros in the entries that are no measurements (the holes of a mask).
  virtual Tensor measured(const Tensor& y) const { return y; }

  // Returns the parameters that were drawn or read: "mask", "kernel", "matrix". Their first
  // dimension is batch().
  virtual std::map<std::string, Tensor> parameters() const { return {}; }

  // Returns the number of different maps in the batch: 1 (shared by all images) or one per image.
  virtual int64_t batch() const { return 1; }
};

// A `LinearOperator` has four verbs (apply, adjoint, ridge, proximal) and two accessors. Unless
// format() is overridden, an operator is its own format and overrides the functions of
// MeasurementFormat. Callers use format(), so that a wrapper can return the format of the operator
// inside.
class LinearOperator : protected MeasurementFormat {
 public:
  virtual Tensor apply(const Tensor& x) const = 0;    // A x
  virtual Tensor adjoint(const Tensor& y) const = 0;  // A' y

  // Returns (A'A + lambda I)^{-1} A' r = A'(AA' + lambda I)^{-1} r, for lambda >= 0; the
  // pseudo-inverse A^+ r at lambda = 0. The default runs conjugate gradients.
  virtual Tensor ridge(const Tensor& r, const Tensor& lambda) const;

  // Returns argmin_x |y - A x|^2 + lambda |x - z|^2 = z + ridge(y - A z, lambda). This residual
  // form never divides by lambda, so it is stable as lambda -> 0. Operators override proximal()
  // where one pass can do it.
  virtual Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const;

  virtual const Spectral* spectral() const { return nullptr; }  // none: A'A has no fast basis
  // Returns whether ridge() is a closed form. Where it iterates, the pivots of a trajectory are
  // solved from one another instead (eps/diffusion/pivot.h). An operator that overrides ridge() and
  // has no fast basis overrides this, too.
  virtual bool closed_form() const { return spectral() != nullptr; }
  // Returns whether a GPU may record what the operator does, to replay it. An operator that calls
  // functions of the user's own overrides this: a replay would not call them.
  virtual bool recordable() const { return true; }
  virtual const MeasurementFormat& format() const { return *this; }

  // Returns the diagonal of A'A where the structure of the operator gives it without a fast basis,
  // in a shape that broadcasts over images like `like`; undefined elsewhere.
  virtual Tensor structural_diagonal(const Tensor& /*like*/) const { return {}; }

  // Returns spectral(), or, where there is none, functions of A'A to a tolerance that serves a
  // network's scales.
  virtual const Spectral& functions() const;

 protected:
  Tensor picture(const Tensor& y) const override { return adjoint(y); }
  // Returns functions of A'A for an operator without a fast basis, which are computed once. The
  // default iterates (eps/operators/krylov.h), which takes many products.
  virtual std::unique_ptr<const Spectral> make_functions() const;

 private:
  mutable std::once_flag once_;
  mutable std::unique_ptr<const Spectral> functions_;
};

using Operator = std::shared_ptr<const LinearOperator>;

// A `Problem` holds a measurement y = A x0 + sigma_y n, Eq. (5), label eq:ip, and its operator.
struct Problem {
  Operator A;
  Tensor y;
  Tensor sigma_y = scalar(0.05);
  Tensor labels = {};  // (N, label_dim), for a class-conditional network

  // Returns the number of measured entries of each y, (N), float64, without the holes of a mask.
  Tensor measurements() const;
  Shape image() const;  // (N, C, H, W) of x0, with the batch of y
};
Problem observe(Operator A, const Tensor& x0, const Tensor& sigma_y, Rng& rng);

// Returns the operator's spectrum. Throws an Error where there is none; its message begins with
// `who`, the user of the spectrum: "ddrm:", "preconditioning: anisotropic".
const Spectral& spectral_of(const LinearOperator& A, const char* who);

// Returns a per-sample scalar (0-dimensional or (N, 1, 1, 1)) in a shape that broadcasts over the
// real tensor `like`, in its dtype and on its device, for authors of operators. A 0-dimensional
// scalar may stay on the CPU, where it meets a GPU's images without a synchronisation.
Tensor per_sample(const Tensor& value, const Tensor& like);
// Returns the entries of the images [begin, end) of a per-sample scalar; a scalar for all images
// stays unchanged.
Tensor slice_sample(const Tensor& value, int64_t begin, int64_t end);
// Returns 1 / (e + lambda), and 0 where the eigenvalue e is 0, whatever lambda is: the
// pseudo-inverse's rule.
Tensor ridge_gain(const Tensor& eigenvalue, const Tensor& lambda);
// Throws an Error unless x is an image of this size.
void check_image_size(const char* name, const Tensor& x, int64_t height, int64_t width);

}  // namespace eps
