// Pictures whose pixels say where they are.
#pragma once

#include "eps/data/pictures.h"

namespace eps {

// Returns a picture whose channels are the row, the column and a number of its own.
inline Tensor mapped(int64_t height, int64_t width, int64_t number) {
  const Tensor rows = at::arange(height, at::kByte).view({1, -1, 1}).expand({1, height, width});
  const Tensor columns = at::arange(width, at::kByte).expand({1, height, width});
  return at::cat({rows, columns, at::full_like(rows, number)});
}

// Returns mapped pictures of these sizes, numbered from 0.
inline Pictures mapped_pictures(const std::vector<std::pair<int64_t, int64_t>>& sizes) {
  Pictures pictures{.name = "test"};
  std::vector<Tensor> parts;
  int64_t offset = 0;
  for (const auto& [height, width] : sizes) {
    const Tensor picture = mapped(height, width, pictures.size());
    pictures.frames.push_back({.offset = offset, .height = height, .width = width});
    parts.push_back(picture.permute({1, 2, 0}).reshape({-1, 3}));
    offset += height * width;
  }
  pictures.pixels = at::cat(parts);
  return pictures;
}

}  // namespace eps
