// Plain ZIP archives of pictures.
#include <filesystem>

#include "eps/data/decoder.h"
#include "eps/data/pictures.h"
#include "eps/io/images/image.h"
#include "eps/io/zip_writer.h"

namespace eps {
namespace {

// A `PictureFile` is an entry of the archive; that of a skipped picture has no name.
struct PictureFile {
  std::string name, content;
};

PictureFile file_of(const ImageSource& source, size_t index, const Decoder::Decoded& decoded) {
  const std::string& name = source.files[index];
  if (source.bytes && !decoded.converted) return {name, source.bytes(index)};
  return {std::filesystem::path(name).replace_extension(".png").string(),
          encode_png(decoded.image, source.image_names[index])};
}

}  // namespace

PackedPictures write_picture_zip(const std::string& path,
                                 const std::vector<std::string>& sources,
                                 const DatasetOptions& options) {
  const c10::NoGradGuard no_grad;
  const std::vector<ImageSource> opened = open_sources(sources, options);
  refuse_labels(opened);
  Decoder decoder(opened, options, Decoder::Sizes::any);
  ZipWriter writer(path);
  PackedPictures packed;
  constexpr int64_t kChunk = 256;  // decoded in parallel, written in order
  for (int64_t begin = 0; begin < decoder.count(); begin += kChunk) {
    const int64_t end = std::min(begin + kChunk, decoder.count());
    std::vector<PictureFile> files(static_cast<size_t>(end - begin));
    std::atomic<int64_t> converted = 0;
    decoder.run(begin, end, [&](const Decoder::Decoded& decoded) {
      const auto [source, index] = decoder.locate(decoded.number);
      files[static_cast<size_t>(decoded.number - begin)] = file_of(source, index, decoded);
      converted += decoded.converted;
    });
    for (const PictureFile& file : files) {
      if (file.name.empty()) continue;
      writer.add(file.name, file.content);
      ++packed.pictures;
    }
    packed.converted += converted;
  }
  writer.finish();
  decoder.report_faults();
  packed.skipped = decoder.count() - packed.pictures;
  return packed;
}

}  // namespace eps
