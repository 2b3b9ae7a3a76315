// Pictures of different sizes, in memory.
#pragma once

#include "eps/data/dataset.h"

namespace eps {

// A `Frame` is the place of a picture among the pixels of all.
struct Frame {
  std::string name = {};          // for messages
  int64_t offset = 0;             // of its first pixel
  int64_t height = 0, width = 0;  // in pixels
  int64_t pixels() const { return height * width; }
};

// A `Pictures` holds pictures of any sizes and one number of channels. Their pixels, row by row and
// picture by picture, are one tensor, from which a GPU gathers crops of many pictures at once.
struct Pictures {
  std::string name = {};  // origin of the pictures, for messages
  Tensor pixels = {};     // uint8 (total, C)
  std::vector<Frame> frames = {};
  int64_t skipped = 0;  // pictures that could not be read

  int64_t size() const { return std::ssize(frames); }
  int64_t channels() const { return pixels.size(1); }
  // Returns a picture (C, H, W), as a view.
  Tensor picture(int64_t i) const;
  // Returns these pictures, with pixels of their own.
  Pictures chosen(const std::vector<int64_t>& numbers) const;
};

// Reads pictures from sources like read_dataset(), but their sizes may differ. Classes by folders
// are ignored; labels in a dataset.json are an Error, since nothing uses them.
Pictures read_pictures(const std::vector<std::string>& sources, const DatasetOptions& options);

struct PackedPictures {
  int64_t pictures = 0;   // written
  int64_t converted = 0;  // of these, in another size or with other channels than their files
  int64_t skipped = 0;    // not written, since they could not be read
};
// Writes the pictures of the sources under their names as a ZIP archive that read_pictures() reads.
// Files are copied byte for byte; what is converted becomes a PNG.
PackedPictures write_picture_zip(const std::string& path,
                                 const std::vector<std::string>& sources,
                                 const DatasetOptions& options);

}  // namespace eps
