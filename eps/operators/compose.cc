// Composition and stacking of operators. Their ridge runs conjugate gradients, but for a blur
// before pooling or a mask.
#include "eps/math/spectrum.h"
#include "eps/operators/factories.h"
#include "eps/operators/masked_blur.h"
#include "eps/operators/pooling.h"

namespace eps {
namespace {

class Composition final : public LinearOperator {
 public:
  Composition(Operator first, Operator second)
      : first_(std::move(first)), second_(std::move(second)) {}

  Tensor apply(const Tensor& x) const override { return second_->apply(first_->apply(x)); }
  Tensor adjoint(const Tensor& y) const override { return first_->adjoint(second_->adjoint(y)); }
  Tensor picture(const Tensor& y) const override {
    return first_->format().picture(second_->format().picture(y));
  }
  Tensor measured(const Tensor& y) const override { return second_->format().measured(y); }
  std::map<std::string, Tensor> parameters() const override {
    std::map<std::string, Tensor> all;
    for (const auto& [name, value] : first_->format().parameters()) all["first." + name] = value;
    for (const auto& [name, value] : second_->format().parameters()) all["second." + name] = value;
    return all;
  }
  int64_t batch() const override {
    return std::max(first_->format().batch(), second_->format().batch());
  }

 private:
  const Operator first_, second_;
};

class Stack final : public LinearOperator {
 public:
  Stack(std::vector<Operator> parts, const Tensor& like) : parts_(std::move(parts)) {
    for (const Operator& part : parts_)
      shapes_.push_back(part->apply(at::zeros_like(like, at::kDouble)).sizes().vec());
  }

  Tensor apply(const Tensor& x) const override {
    std::vector<Tensor> all;
    for (const Operator& part : parts_) all.push_back(part->apply(x).flatten(1));
    return at::cat(all, 1);
  }
  Tensor adjoint(const Tensor& y) const override {
    Tensor sum;
    for_each_part(y, [&](const LinearOperator& part, const Tensor& own) {
      const Tensor image = part.adjoint(own);
      sum = sum.defined() ? sum + image : image;
    });
    return sum;
  }
  Tensor structural_diagonal(const Tensor& like) const override {
    Tensor sum = at::zeros({1, 1, 1, 1}, like.options());
    for (const Operator& part : parts_) sum = sum + part->functions().normal_diagonal(like);
    return sum;
  }
  Tensor measured(const Tensor& y) const override {
    std::vector<Tensor> all;
    for_each_part(y, [&](const LinearOperator& part, const Tensor& own) {
      all.push_back(part.format().measured(own).flatten(1));
    });
    return at::cat(all, 1);
  }
  std::map<std::string, Tensor> parameters() const override {
    std::map<std::string, Tensor> all;
    for (size_t i = 0; i < parts_.size(); ++i)
      for (const auto& [name, value] : parts_[i]->format().parameters())
        all[std::to_string(i) + "." + name] = value;
    return all;
  }
  int64_t batch() const override {
    int64_t most = 1;
    for (const Operator& part : parts_) most = std::max(most, part->format().batch());
    return most;
  }

 private:
  template <class Visit>
  void for_each_part(const Tensor& y, const Visit& visit) const {
    int64_t begin = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      Shape shape = shapes_[i];
      shape[0] = y.size(0);
      const int64_t length = c10::multiply_integers(shape) / shape[0];
      check(y.dim() == 2 && begin + length <= y.size(1),
            "stack: a measurement of shape ",
            to_string(y.sizes()),
            " is too short for ",
            parts_.size(),
            " parts");
      visit(*parts_[i], y.slice(1, begin, begin + length).reshape(shape));
      begin += length;
    }
    check(begin == y.size(1),
          "stack: a measurement has ",
          begin,
          " values per image, got ",
          y.size(1));
  }

  const std::vector<Operator> parts_;
  std::vector<Shape> shapes_;  // of each part's y, the first entry any N
};

// Returns the mask, (1, 1, H, W), of an operator that keeps pixels; undefined for others.
Tensor mask_of(const LinearOperator& A) {
  if (!A.spectral() || A.spectral()->basis() != Basis::pixel) return {};
  const auto parameters = A.format().parameters();
  const auto found = parameters.find("mask");
  if (parameters.count("noise_weights") || found == parameters.end() || found->second.dim() != 3 ||
      found->second.size(0) != 1)
    return {};
  const Tensor mask = found->second.unsqueeze(1);
  return (mask * (1 - mask)).any().item<bool>() ? Tensor() : mask;
}

// Returns two circular blurs as one, with a kernel of the size of the frame.
Operator join(const CircularBlur& first, const CircularBlur& second) {
  const int64_t height = first.height(), width = first.width();
  const Tensor impulse = unit_impulse(height, width, first.kernel().options());
  const Tensor response = second.apply(first.apply(impulse));
  return circular_blur(
      at::roll(response, {height / 2, width / 2}, {2, 3}).squeeze(1), height, width);
}

}  // namespace

Operator compose(Operator first, Operator second) {
  check(first && second, "compose: two operators are wanted");
  const auto* blur = dynamic_cast<const CircularBlur*>(first.get());
  const auto* pool = dynamic_cast<const AveragePool*>(second.get());
  const auto* blur_again = dynamic_cast<const CircularBlur*>(second.get());
  if (blur && blur_again) return join(*blur, *blur_again);
  if (blur && pool) return blur_pool(blur->kernel(), blur->height(), blur->width(), pool->factor());
  if (blur)
    if (const Tensor mask = mask_of(*second); mask.defined()) {
      if (mask.all().item<bool>()) return first;
      if (MaskedBlur::supports(*blur, mask)) return std::make_shared<MaskedBlur>(*blur, mask);
    }
  return std::make_shared<Composition>(std::move(first), std::move(second));
}

Operator stack(const std::vector<Operator>& parts, const Tensor& like) {
  check(!parts.empty(), "stack: at least one operator is wanted");
  return std::make_shared<Stack>(parts, like);
}

}  // namespace eps
