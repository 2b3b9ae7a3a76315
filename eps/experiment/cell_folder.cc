// The folder of one cell of an experiment.
#include "eps/experiment/cell_folder.h"

#include <nlohmann/json.hpp>

#include "eps/io/file.h"
#include "eps/io/safetensors.h"

namespace eps::experiment {
namespace {

using Json = nlohmann::ordered_json;

// Reads an object. Files are replaced as a whole, so a broken one was not written by eps.
Json read_json(const std::string& path) {
  const Json json = Json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  check(json.is_object(), path, ": no JSON object; remove the file to do its cell again");
  return json;
}

template <class Value>
Value field(const Json& json, const char* name, const std::string& path) {
  try {
    return json.at(name).get<Value>();
  } catch (const Json::exception&) {
    fail(
        path, ": ", name, " is missing or of the wrong type; remove the file to do its cell again");
  }
}

}  // namespace

std::optional<Sampling> CellFolder::sampling() const {
  const std::string path = file("sampling.json");
  if (!std::filesystem::exists(path)) return {};
  const Json json = read_json(path);
  return Sampling{{field<int64_t>(json, "evaluations", path),
                   field<int64_t>(json, "vjps", path),
                   field<int64_t>(json, "solves", path)},
                  field<double>(json, "seconds", path),
                  field<int64_t>(json, "images_seen", path)};
}

void CellFolder::write_sampling(const Sampling& sampling) const {
  const Json json = {{"evaluations", sampling.cost.evaluations},
                     {"vjps", sampling.cost.vjps},
                     {"solves", sampling.cost.solves},
                     {"seconds", sampling.seconds},
                     {"images_seen", sampling.images_seen}};
  write_file_atomically(file("sampling.json"), json.dump(2) + "\n");
}

std::optional<report::Row> CellFolder::row(const std::string& networks) const {
  const std::string path = file(row_);
  if (!std::filesystem::exists(path)) return {};
  if (field<std::string>(read_json(path), "judges", path) != networks) return {};
  return any_row();
}

std::optional<report::Row> CellFolder::any_row() const {
  const std::string path = file(row_);
  if (!std::filesystem::exists(path)) return {};
  const auto rows = report::parse_rows(field<Json>(read_json(path), "rows", path).dump(), path);
  check(rows.size() == 1, path, ": ", rows.size(), " rows, wanted one");
  return rows.front();
}

void CellFolder::write_row(const report::Row& row, const std::string& networks) const {
  const Json json = {{"judges", networks},
                     {"rows", Json::parse(to_json(std::vector<report::Row>{row}))}};
  write_file_atomically(file(row_), json.dump(2) + "\n");
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
