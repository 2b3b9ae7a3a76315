// The folder of one cell of an experiment.
#include "eps/experiment/cell_folder.h"

#include "eps/base/json_fields.h"
#include "eps/io/file.h"
#include "eps/io/safetensors.h"
#include "eps/report/row_json.h"

namespace eps::experiment {
namespace {

// Returns the result of `read` on the object in the file. Files are replaced as a whole, so a file
// that cannot be parsed was made by another program.
template <class Read>
auto read_object(const std::string& path, const Read& read) {
  try {
    const Json json = parse_json(read_file(path), path);
    JsonFields fields(json, path);
    return read(fields);
  } catch (const Error& error) {
    fail(error.what(), "; remove the file to do its cell again");
  }
}

}  // namespace

std::optional<Sampling> CellFolder::sampling() const {
  const std::string path = file("sampling.json");
  if (!std::filesystem::exists(path)) return {};
  return read_object(path, [](JsonFields& fields) {
    return Sampling{{fields.get<int64_t>("evaluations"),
                     fields.get<int64_t>("vjps"),
                     fields.get<int64_t>("solves")},
                    fields.get<double>("seconds"),
                    fields.get<int64_t>("images_seen")};
  });
}

void CellFolder::write_sampling(const Sampling& sampling) const {
  const Json json = {{"evaluations", sampling.cost.evaluations},
                     {"vjps", sampling.cost.vjps},
                     {"solves", sampling.cost.solves},
                     {"seconds", sampling.seconds},
                     {"images_seen", sampling.images_seen}};
  write_file_atomically(file("sampling.json"), json_text(json, 2) + "\n");
}

std::optional<report::Row> CellFolder::row(const std::string& networks) const {
  const std::string path = file(row_);
  if (!std::filesystem::exists(path)) return {};
  const auto scored_by =
      read_object(path, [](JsonFields& fields) { return fields.get<std::string>("judges"); });
  if (scored_by != networks) return {};
  return any_row();
}

std::optional<report::Row> CellFolder::any_row() const {
  const std::string path = file(row_);
  if (!std::filesystem::exists(path)) return {};
  return read_object(path, [&](JsonFields& fields) {
    const Json& rows = fields.at("rows");
    check(rows.is_array() && rows.size() == 1, path, ": rows must be a list of one row");
    return report::parse_row(rows[0], path);
  });
}

void CellFolder::write_row(const report::Row& row, const std::string& networks) const {
  const Json json = {{"judges", networks}, {"rows", Json::array({report::row_json(row)})}};
  write_file_atomically(file(row_), json_text(json, 2) + "\n");
}

std::filesystem::file_time_type CellFolder::scored_at() const {
  return std::filesystem::last_write_time(file(row_));
}

std::optional<Thumbnails> CellFolder::thumbnails() const {
  const std::string path = file(thumbnails_);
  if (!std::filesystem::exists(path)) return {};
  const auto tensors = read_safetensors(path).tensors;
  for (const char* name : {"samples", "mean", "deviation"})
    check(tensors.count(name), path, ": has no tensor ", name);
  return Thumbnails{tensors.at("samples"), tensors.at("mean"), tensors.at("deviation")};
}

void CellFolder::write_thumbnails(const Thumbnails& thumbnails) const {
  write_safetensors(file(thumbnails_),
                    {{{"samples", thumbnails.samples},
                      {"mean", thumbnails.mean},
                      {"deviation", thumbnails.deviation}},
                     {}});
}

bool CellFolder::has_samples() const { return std::filesystem::exists(samples_file()); }

void CellFolder::discard_samples() const { std::filesystem::remove(samples_file()); }

}  // namespace eps::experiment
