// The folder of one cell of an experiment: its samples, their cost and their scores.
#pragma once

#include <filesystem>
#include <optional>

#include "eps/methods/oracle.h"
#include "eps/report/report.h"

namespace eps::experiment {

// A `Sampling` holds the cost of drawing the samples.
struct Sampling {
  Cost cost = {};
  double seconds = 0;       // a sample
  int64_t images_seen = 0;  // by the network in training
};

// `Thumbnails` are a few images of the cell, for pictures.
struct Thumbnails {
  Tensor samples;          // the first ones scored, (at most 4, K, C, H, W)
  Tensor mean, deviation;  // of all samples, (K, C, H, W)
};

// A `CellFolder` reads and writes the files of one cell.
class CellFolder {
 public:
  // of_mean: the row scores the mean of the samples. The rows of samples and mean share one folder.
  CellFolder(std::string path, bool of_mean)
      : path_(std::move(path)),
        row_(of_mean ? "row_of_mean.json" : "row.json"),
        thumbnails_(of_mean ? "glimpse_of_mean.safetensors" : "glimpse.safetensors") {}
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string samples_file() const { return file("samples.npy"); }

  // Returns the cost of the samples, or nothing unless they are complete.
  std::optional<Sampling> sampling() const;
  void write_sampling(const Sampling& sampling) const;

  // Returns the row of the cell if these metric networks scored it, with or without an error; else
  // nothing.
  std::optional<report::Row> row(const std::string& judges) const;
  // Returns the row of the cell, whichever metric networks scored it.
  std::optional<report::Row> any_row() const;
  void write_row(const report::Row& row, const std::string& judges) const;
  std::filesystem::file_time_type scored_at() const;  // of a cell with a row

  std::optional<Thumbnails> thumbnails() const;
  void write_thumbnails(const Thumbnails& thumbnails) const;

  bool has_samples() const;
  void discard_samples() const;

 private:
  const std::string path_, row_, thumbnails_;
};

}  // namespace eps::experiment
