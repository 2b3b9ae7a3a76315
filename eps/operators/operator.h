// Linear operators: the map A of y = A x0 + sigma_y n, and the problem it poses.
//
// An operator is a batch of maps: its parameters (masks, kernels) are one for all images or one for
// each. It is used in the dtype and on the device of its argument; its own parameters are float64.
#pragma once

#include "eps/base/core.h"
#include "eps/base/random.h"

namespace eps {

// A map of a tensor of eigenvalues to one of the same shape, or one that broadcasts with it.
using EigenvalueMap = std::function<Tensor(const Tensor& eigenvalue)>;

// The basis in which A'A is diagonal. It says how Spectral lays out the eigenvalues: `pixel` like
// the image, `fourier` like rfft2 of the image, the others as they come.
enum class Basis { pixel, fourier, hadamard, isometry, blur_pool, singular };

// The spectrum of an operator whose A'A is diagonal in a fast basis.
class Spectral {
 public:
  virtual ~Spectral() = default;
  virtual Basis basis() const = 0;

  // f(A'A) x
  virtual Tensor filter(const Tensor& x, const EigenvalueMap& f) const = 0;

  // The diagonal of the matrix f(A'A), to broadcast over images like this one. Default: a filtered
  // impulse for each pixel and channel, correct and slow.
  virtual Tensor diagonal(const Tensor& like, const EigenvalueMap& f) const;

  // The power of the data along the eigendirections, in the layout of the eigenvalues, for data
  // whose power along the frequencies of rfft2 is `spectrum`. Default: the mean power, the same for
  // all, which keeps the total but knows nothing of the basis.
  virtual EigenvalueMap prior_power(const Tensor& spectrum, const Tensor& like) const;
};

// The format of measurements: how they look, and which maps the batch holds.
class MeasurementFormat {
 public:
  virtual ~MeasurementFormat() = default;

  // y as an image of the size of x, for the network's side channel (App. B, Architecture).
  virtual Tensor picture(const Tensor& y) const = 0;

  // y with the entries that are no measurements (the holes of a mask) set to zero.
  virtual Tensor measured(const Tensor& y) const { return y; }

  // The parameters that were drawn or read: "mask", "kernel", "matrix". The first dimension is
  // batch().
  virtual std::map<std::string, Tensor> parameters() const { return {}; }

  // How many different maps the batch holds: 1 (shared by all images) or one per image.
  virtual int64_t batch() const { return 1; }
};

// Four verbs and two accessors. An operator is its own format unless it says otherwise, and may
// override what that has to say; callers ask format(), so that a wrapper can hand it on.
class LinearOperator : protected MeasurementFormat {
 public:
  virtual Tensor apply(const Tensor& x) const = 0;    // A x
  virtual Tensor adjoint(const Tensor& y) const = 0;  // A' y

  // (A'A + lambda I)^{-1} A' r = A'(AA' + lambda I)^{-1} r, for lambda >= 0; the pseudo-inverse
  // A^+ r at lambda = 0. Default: conjugate gradients.
  virtual Tensor ridge(const Tensor& r, const Tensor& lambda) const;

  // argmin_x |y - A x|^2 + lambda |x - z|^2 = z + ridge(y - A z, lambda). This residual form never
  // divides by lambda, so it is stable as lambda -> 0. Overridden where one pass can do it.
  virtual Tensor proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const;

  virtual const Spectral* spectral() const { return nullptr; }  // none: A'A has no fast basis
  virtual const MeasurementFormat& format() const { return *this; }

 protected:
  Tensor picture(const Tensor& y) const override { return adjoint(y); }
};

using Operator = std::shared_ptr<const LinearOperator>;

// y = A x0 + sigma_y n, Eq. (5), label eq:ip.
struct Problem {
  Operator A;
  Tensor y;
  Tensor sigma_y = scalar(0.05);
  Tensor labels = {};  // (N, label_dim), for a network that is told the class

  // The number of measured entries of each y, (N), float64; the holes of a mask are none.
  Tensor measurements() const;
  Shape image() const;  // (N, C, H, W) of x0, with the batch of y
};
Problem observe(Operator A, const Tensor& x0, const Tensor& sigma_y, Rng& rng);

// Returns the operator's spectrum; throws an Error where there is none, which says that `who` wants
// one: "ddrm:", "preconditioning: anisotropic".
const Spectral& spectral_of(const LinearOperator& A, const std::string& who);

// For authors of operators. A per-sample scalar (0-dimensional or (N, 1, 1, 1)) shaped to broadcast
// over the real tensor `like`, in its dtype and on its device; a 0-dimensional one may stay on the
// CPU, where it meets a GPU's images without a synchronisation.
Tensor per_sample(const Tensor& value, const Tensor& like);
// The images [begin, end) of a per-sample scalar; one for all stays as it is.
Tensor slice_sample(const Tensor& value, int64_t begin, int64_t end);
// 1 / (e + lambda), and 0 where the eigenvalue e is 0, whatever lambda is: the pseudo-inverse's
// rule.
Tensor ridge_gain(const Tensor& eigenvalue, const Tensor& lambda);
// Throws unless x is an image of this size.
void check_image_size(const char* name, const Tensor& x, int64_t height, int64_t width);

}  // namespace eps
