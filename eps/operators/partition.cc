// Different operators for different images of one batch.
#include "eps/operators/partition.h"

namespace eps {

Partition::Partition(const std::vector<std::pair<Operator, int64_t>>& parts, const Tensor& like) {
  check(!parts.empty(), "partition: at least one operator is wanted");
  int64_t begin = 0;
  for (const auto& [A, images] : parts) {
    check(images >= 1, "partition: each operator wants at least one image, got ", images);
    parts_.push_back({A, begin, begin + images});
    begin += images;
    shapes_.push_back(
        A->apply(at::zeros_like(like.slice(0, 0, A->format().batch()))).sizes().vec());
    longest_ = std::max(longest_, c10::multiply_integers(shapes_.back()) / shapes_.back()[0]);
  }
}

Tensor Partition::own(const Tensor& y, size_t part) const {
  const auto& [A, begin, end] = parts_[part];
  Shape shape = shapes_[part];
  shape[0] = end - begin;
  check(y.dim() == 2 && y.size(0) == batch() && y.size(1) == longest_,
        "partition: a measurement is ",
        batch(),
        " x ",
        longest_,
        ", got ",
        to_string(y.sizes()));
  return y.slice(0, begin, end)
      .slice(1, 0, c10::multiply_integers(shape) / shape[0])
      .reshape(shape);
}

Tensor Partition::padded(const Tensor& y) const {
  const Tensor flat = y.flatten(1);
  const int64_t room = longest_ - flat.size(1);
  return room == 0 ? flat : at::constant_pad_nd(flat, {0, room});
}

Tensor Partition::apply(const Tensor& x) const {
  std::vector<Tensor> all;
  for (const auto& [A, begin, end] : parts_)
    all.push_back(padded(A->apply(x.slice(0, begin, end))));
  return at::cat(all);
}

Tensor Partition::adjoint(const Tensor& y) const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < parts_.size(); ++i) all.push_back(parts_[i].A->adjoint(own(y, i)));
  return at::cat(all);
}

Tensor Partition::ridge(const Tensor& r, const Tensor& lambda) const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const auto& [A, begin, end] = parts_[i];
    all.push_back(A->ridge(own(r, i), slice_sample(lambda, begin, end)));
  }
  return at::cat(all);
}

Tensor Partition::proximal(const Tensor& z, const Tensor& y, const Tensor& lambda) const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const auto& [A, begin, end] = parts_[i];
    all.push_back(A->proximal(z.slice(0, begin, end), own(y, i), slice_sample(lambda, begin, end)));
  }
  return at::cat(all);
}

Tensor Partition::picture(const Tensor& y) const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < parts_.size(); ++i)
    all.push_back(parts_[i].A->format().picture(own(y, i)));
  return at::cat(all);
}

Tensor Partition::measured(const Tensor& y) const {
  std::vector<Tensor> all;
  for (size_t i = 0; i < parts_.size(); ++i)
    all.push_back(padded(parts_[i].A->format().measured(own(y, i))));
  return at::cat(all);
}

std::vector<Partition::Part> parts_of(const Operator& A, int64_t images) {
  if (const auto* partition = dynamic_cast<const Partition*>(A.get())) return partition->parts();
  return {{A, 0, images}};
}

}  // namespace eps
