// Clean images for a network.
#include "cli/images.h"

#include <iostream>

#include "cli/model.h"
#include "eps/io/array.h"
#include "eps/io/images/image.h"

namespace eps::cli {
namespace {

Dataset read(const std::string& source, int64_t count, const nets::UNetConfig& network) {
  if (!is_array_path(source))
    return read_dataset(
        {source},
        {.size = network.is_local() ? 0 : network.img_resolution,
         .channels = network.img_channels,
         .limit = count,
         .report = [](const std::string& line) { std::cerr << "eps: " << line << '\n'; }});
  Dataset data;
  data.name = source;
  data.images = read_array(source);
  if (data.images.dim() == 3) data.images = data.images.unsqueeze(0);
  check(data.images.dim() == 4,
        source,
        ": images are N x C x H x W, got ",
        to_string(data.images.sizes()));
  if (count > 0) data.images = data.images.slice(0, 0, count);
  return data;
}

}  // namespace

Dataset read_clean_images(const std::string& source,
                          int64_t count,
                          const nets::UNetConfig& network) {
  Dataset data = read(source, count, network);
  if (data.images.scalar_type() == at::kByte) data.images = from_uint8(data.images);
  check(data.size() > 0, source, ": no images");
  check(
      data.images.size(1) == network.img_channels &&
          (network.is_local() || (data.images.size(2) == network.img_resolution &&
                                  data.images.size(3) == network.img_resolution)),
      source,
      ": the network takes images of ",
      to_string(network.is_local()
                    ? Shape{network.img_channels}
                    : Shape{network.img_channels, network.img_resolution, network.img_resolution}),
      network.is_local() ? " channels and any size, got " : ", got ",
      to_string(data.images.sizes().slice(1)));
  check_image_range(data.images, source);
  data.images = data.images.to(at::kFloat);
  return data;
}

Tensor labels_for(const std::string& text, const Checkpoint& model, const Dataset& data) {
  return labels_for(text, model, data.size(), [&] {
    check(data.label_dim == model.network.config().label_dim,
          data.name,
          ": the network needs the labels of ",
          model.network.config().label_dim,
          " classes, the images have ",
          data.label_dim,
          "; give labels with --labels");
    return data.labels;
  });
}

}  // namespace eps::cli
