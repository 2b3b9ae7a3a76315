// The images of several sources, decoded in parallel.
#pragma once

#include <atomic>
#include <functional>
#include <limits>

#include "eps/data/sources/source.h"

namespace eps {

// A `Decoder` numbers the images of several sources consecutively and decodes them at the size and
// number of channels of the options. An image that cannot be read is a fault of its own; an image
// of another number of channels than the first one's, or of another size where all must have one,
// is an Error.
class Decoder {
 public:
  enum class Sizes { one, any };

  // The sources and the options must outlive the decoder.
  Decoder(const std::vector<ImageSource>& sources, const DatasetOptions& options, Sizes sizes);

  int64_t count() const { return static_cast<int64_t>(faults_.size()); }

  // Returns the first readable image, uint8 (C, H, W). No readable image is an Error.
  const Tensor& first();

  // A `Decoded` is a readable image (C, H, W) with its number; `converted` where it differs from
  // the file's in size or channels.
  struct Decoded {
    int64_t number;
    Tensor image;
    bool converted;
  };
  // Calls take() for each readable image with a number in [begin, end), from several threads and in
  // any order. Throws the Error of the first image that has one, whatever the order.
  void run(int64_t begin, int64_t end, const std::function<void(const Decoded&)>& take);

  // Returns the source of an image, and the image's number within that source.
  std::pair<const ImageSource&, size_t> locate(int64_t number) const;

  std::vector<int64_t> kept() const;  // numbers of the readable images, in order
  // Reports the reason for each of the others, in order.
  void report_faults() const;

 private:
  Decoded decode(int64_t number);
  void check_alike(const Decoded& decoded) const;

  const std::vector<ImageSource>& sources_;
  const DatasetOptions& options_;
  const Sizes sizes_;
  std::vector<int64_t> ends_;        // end of each source, in numbers of images
  std::vector<std::string> faults_;  // fault of each image; empty: none
  Decoded first_{};                  // undefined image: not yet found
  std::atomic<int64_t> fatal_ = std::numeric_limits<int64_t>::max();
};

}  // namespace eps
