// Reading of pictures of different sizes.
#include "eps/data/pictures.h"

#include "eps/data/decoder.h"

namespace eps {
namespace {

// Joins tensors of pixels, and releases each as soon as it is copied.
Tensor joined_pixels(std::vector<Tensor> parts) {
  int64_t total = 0;
  for (const Tensor& part : parts) total += part.size(0);
  const Tensor all = at::empty({total, parts.front().size(1)}, at::kByte);
  int64_t end = 0;
  for (Tensor& part : parts) {
    all.slice(0, end, end + part.size(0)).copy_(part);
    end += part.size(0);
    part = Tensor();
  }
  return all;
}

void set_offsets(std::vector<Frame>& frames) {
  int64_t end = 0;
  for (Frame& frame : frames) {
    frame.offset = end;
    end += frame.pixels();
  }
}

}  // namespace

Tensor Pictures::picture(int64_t i) const {
  const Frame& frame = frames[static_cast<size_t>(i)];
  return pixels.narrow(0, frame.offset, frame.pixels())
      .view({frame.height, frame.width, channels()})
      .permute({2, 0, 1});
}

Pictures Pictures::chosen(const std::vector<int64_t>& numbers) const {
  Pictures part{.name = name};
  std::vector<Tensor> parts;
  for (const int64_t number : numbers) {
    const Frame& frame = frames[static_cast<size_t>(number)];
    part.frames.push_back(frame);
    parts.push_back(pixels.narrow(0, frame.offset, frame.pixels()));
  }
  part.pixels = at::cat(parts);
  set_offsets(part.frames);
  return part;
}

Pictures read_pictures(const std::vector<std::string>& sources, const DatasetOptions& options) {
  const c10::NoGradGuard no_grad;
  const std::vector<ImageSource> opened = open_sources(sources, options);
  refuse_labels(opened);
  Decoder decoder(opened, options, Decoder::Sizes::any);
  std::vector<Tensor> parts(static_cast<size_t>(decoder.count()));
  std::vector<Frame> frames(parts.size());
  decoder.run(0, decoder.count(), [&](const Decoder::Decoded& decoded) {
    const auto [source, index] = decoder.locate(decoded.number);
    const auto i = static_cast<size_t>(decoded.number);
    const Tensor pixels = decoded.image.permute({1, 2, 0}).contiguous();
    frames[i] = {
        .name = source.image_names[index], .height = pixels.size(0), .width = pixels.size(1)};
    parts[i] = pixels.view({-1, pixels.size(2)});
  });
  std::erase_if(parts, [](const Tensor& part) { return !part.defined(); });
  std::erase_if(frames, [](const Frame& frame) { return frame.height == 0; });
  set_offsets(frames);
  decoder.report_faults();
  return {.name = names_of(opened),
          .pixels = joined_pixels(std::move(parts)),
          .frames = frames,
          .skipped = decoder.count() - std::ssize(frames)};
}

}  // namespace eps
