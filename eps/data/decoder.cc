// The images of several sources, decoded in parallel.
#include "eps/data/decoder.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "eps/io/images/resize.h"

namespace eps {
namespace {

// Returns the image at the size and number of channels of the options: uint8 (C, H, W).
Tensor fitted(Tensor image, const DatasetOptions& options) {
  if (options.size > 0) {
    const int64_t height = image.size(1), width = image.size(2), side = std::min(height, width);
    if (options.fit == "crop") {
      image = image.narrow(1, (height - side) / 2, side).narrow(2, (width - side) / 2, side);
    }
    image = resize_lanczos(image, options.size, options.size);
  }
  if (options.channels == 3 && image.size(0) == 1) return image.expand({3, -1, -1});
  if (options.channels == 1 && image.size(0) == 3) {
    return (image.sum(0, true, at::kInt) + 1).div_(3, "floor").to(at::kByte);
  }
  return image;
}

}  // namespace

Decoder::Decoder(const std::vector<ImageSource>& sources,
                 const DatasetOptions& options,
                 Sizes sizes)
    : sources_(sources), options_(options), sizes_(sizes) {
  for (const ImageSource& source : sources)
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + std::ssize(source.image_names));
  const int64_t all = ends_.back();
  faults_.resize(static_cast<size_t>(options.limit > 0 ? std::min(all, options.limit) : all));
}

std::pair<const ImageSource&, size_t> Decoder::locate(int64_t number) const {
  const auto source =
      static_cast<size_t>(std::upper_bound(ends_.begin(), ends_.end(), number) - ends_.begin());
  return {sources_[source], static_cast<size_t>(source == 0 ? number : number - ends_[source - 1])};
}

// Returns an undefined image after recording the reason why it cannot be read.
Decoder::Decoded Decoder::decode(int64_t number) {
  const auto [source, index] = locate(number);
  try {
    const Tensor image = source.read(index);
    const Tensor fit = fitted(image, options_);
    return {number, fit, !fit.is_same(image)};
  } catch (const Error& error) {
    if (options_.strict) throw;
    faults_[static_cast<size_t>(number)] = error.what();
    return {number, {}, false};
  }
}

const Tensor& Decoder::first() {
  for (int64_t i = 0; i < count() && !first_.image.defined(); ++i) first_ = decode(i);
  check(first_.image.defined(),
        "none of ",
        count(),
        " images can be read; the first: ",
        faults_.front());
  return first_.image;
}

void Decoder::check_alike(const Decoded& decoded) const {
  const auto own = decoded.image.sizes(), wanted = first_.image.sizes();
  const bool channels = own[0] != wanted[0];
  if (!channels && (sizes_ == Sizes::any || own == wanted)) return;
  const auto [source, index] = locate(decoded.number);
  const auto [first_source, first_index] = locate(first_.number);
  fail(source.image_names[index],
       ": the image is ",
       to_string(own),
       ", but ",
       first_source.image_names[first_index],
       " is ",
       to_string(wanted),
       channels ? "; ask for 1 or 3 channels to convert them" : "; ask for a size to convert them");
}

// Of several errors the error of the first image is kept: images after that one need not be read
// any more, images before it are.
void Decoder::run(int64_t begin, int64_t end, const std::function<void(const Decoded&)>& take) {
  first();
  at::parallel_for(begin, end, 1, [&](int64_t from, int64_t to) {
    for (int64_t i = std::max(from, first_.number); i < to && i <= fatal_; ++i) {
      try {
        const Decoded decoded = i == first_.number ? first_ : decode(i);
        if (!decoded.image.defined()) continue;
        check_alike(decoded);
        take(decoded);
      } catch (const Error& error) {
        faults_[static_cast<size_t>(i)] = error.what();
        int64_t known = fatal_;
        while (i < known && !fatal_.compare_exchange_weak(known, i)) {
        }
      }
    }
  });
  if (fatal_ < count()) throw Error(faults_[static_cast<size_t>(fatal_.load())]);
}

std::vector<int64_t> Decoder::kept() const {
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < count(); ++i)
    if (faults_[static_cast<size_t>(i)].empty()) numbers.push_back(i);
  return numbers;
}

void Decoder::report_faults() const {
  if (!options_.report) return;
  for (const auto& fault : faults_)
    if (!fault.empty()) options_.report(fault);
}

}  // namespace eps
