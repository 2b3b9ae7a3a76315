// A description of images: sizes and counts of bytes, added up while they are decoded.
#include "eps/data/summary.h"

#include <algorithm>
#include <mutex>

#include "eps/data/decoder.h"

namespace eps {

DatasetSummary summary_of(const std::vector<std::string>& sources, const DatasetOptions& options) {
  const c10::NoGradGuard no_grad;
  const std::vector<ImageSource> opened = open_sources(sources, options);
  Decoder decoder(opened, options, Decoder::Sizes::any);
  const Tensor& first = decoder.first();
  DatasetSummary summary;
  summary.channels = first.size(0);
  auto &low = summary.smallest, &high = summary.largest;
  low = high = {first.size(1), first.size(2)};
  const Tensor counts = at::zeros({summary.channels, 256}, at::kLong);
  std::mutex mutex;
  decoder.run(0, decoder.count(), [&](const Decoder::Decoded& decoded) {
    const int64_t height = decoded.image.size(1), width = decoded.image.size(2);
    const Tensor own = byte_counts(decoded.image);
    const std::lock_guard lock(mutex);
    counts.add_(own);
    summary.pixels += height * width;
    low = {std::min(low.height, height), std::min(low.width, width)};
    high = {std::max(high.height, height), std::max(high.width, width)};
  });
  decoder.report_faults();
  const std::vector<int64_t> kept = decoder.kept();
  summary.images = std::ssize(kept);
  summary.skipped = decoder.count() - summary.images;
  summary.moments = moments_of(counts);
  if (!summary.one_size()) return summary;
  const JoinedLabels joined = join_labels(opened);
  summary.label_dim = joined.label_dim;
  if (joined.labels.defined())
    summary.labels = joined.labels.index_select(0, at::tensor(kept, at::kLong));
  return summary;
}

}  // namespace eps
