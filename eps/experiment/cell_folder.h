// The folder of one cell of an experiment: what is done of it.
#pragma once

#include <filesystem>
#include <optional>

#include "eps/methods/oracle.h"
#include "eps/report/report.h"

namespace eps::experiment {

// What drawing the samples cost.
struct Sampling {
  Cost cost = {};
  double seconds = 0;       // a sample
  int64_t images_seen = 0;  // by the network in training
};

// A few images of the cell, for pictures.
struct Thumbnails {
  Tensor samples;          // the first that are judged, (at most 4, K, C, H, W)
  Tensor mean, deviation;  // of all that were drawn, (K, C, H, W)
};

class CellFolder {
 public:
  // of_mean: what is judged is the mean of the samples. Both rows share what was drawn.
  CellFolder(std::string path, bool of_mean)
      : path_(std::move(path)),
        row_(of_mean ? "row_of_mean.json" : "row.json"),
        thumbnails_(of_mean ? "glimpse_of_mean.safetensors" : "glimpse.safetensors") {}
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string samples_file() const { return file("samples.npy"); }

  // Nothing, unless the samples were drawn to the end.
  std::optional<Sampling> sampling() const;
  void write_sampling(const Sampling& sampling) const;

  // Nothing, unless the cell was scored by these judges. A row with an error counts as one.
  std::optional<report::Row> row(const std::string& judges) const;
  // Whoever judged it.
  std::optional<report::Row> any_row() const;
  void write_row(const report::Row& row, const std::string& judges) const;
  std::filesystem::file_time_type scored_at() const;  // it must have been

  std::optional<Thumbnails> thumbnails() const;
  void write_thumbnails(const Thumbnails& thumbnails) const;

  bool has_samples() const;
  void discard_samples() const;

 private:
  const std::string path_, row_, thumbnails_;
};

}  // namespace eps::experiment
