// SciPy's sparse matrices in .npz files.
#include "eps/io/sparse_npz.h"

#include "eps/base/printable.h"
#include "eps/io/array.h"
#include "eps/io/file.h"
#include "eps/io/npy.h"
#include "eps/io/npy_header.h"
#include "eps/io/zip.h"

namespace eps {
namespace {

constexpr int64_t kMaxSide = int64_t{1} << 27;  // pointers to so many rows take 1 GB

// A `SparseArchive` holds the arrays of an .npz file by name.
class SparseArchive {
 public:
  SparseArchive(std::string_view bytes, const std::string& name)
      : name_(name), entries_(read_zip(bytes, name)) {}

  // Returns the word in "format.npy": an array of one string, of bytes (|S3) or of UTF-32 (<U3).
  std::string word(const std::string& key) const {
    const std::string content = bytes_of(key);
    std::string_view data = content;
    const NpyHeader header = take_npy_header(data, name_);
    const bool wide = header.descr.starts_with("<U");
    check(header.shape.empty() && (wide || header.descr.starts_with("|S")),
          name_,
          ": ",
          key,
          " is not one string but ",
          printable(header.descr),
          " of shape (",
          to_string(header.shape),
          ")");
    std::string text;
    for (size_t i = 0; i < data.size(); ++i)
      if (data[i] != '\0') text += data[i];
    return text;
  }

  Tensor numbers(const std::string& key) const {
    const Tensor array = parse_npy(bytes_of(key), name_);
    check(array.dim() == 1,
          name_,
          ": ",
          key,
          " must have 1 dimension, got ",
          to_string(array.sizes()));
    return array;
  }
  Tensor integers(const std::string& key) const {
    const Tensor array = numbers(key);
    check(at::isIntegralType(array.scalar_type(), /*includeBool=*/false),
          name_,
          ": ",
          key,
          " must hold integers, found ",
          array.dtype().name());
    return array.to(at::kLong);
  }

 private:
  std::string bytes_of(const std::string& key) const {
    for (const ZipEntry& entry : entries_)
      if (entry.name == key + ".npy") return entry_content(entry, name_);
    fail(name_, ": holds no ", key, ".npy, so it is no sparse matrix of scipy.sparse.save_npz");
  }

  const std::string name_;
  const std::vector<ZipEntry> entries_;
};

void check_inside(const Tensor& index, int64_t end, const char* what, const std::string& name) {
  const Tensor wrong = index.masked_select(at::logical_or(index < 0, index >= end));
  if (wrong.numel() > 0)
    fail(name, ": a ", what, " index of ", wrong[0].item<int64_t>(), " in a matrix of ", end);
}

// Returns for each entry the row (csr) or column (csc) that the pointers of `lines` put it in.
Tensor expand_pointers(const Tensor& pointers,
                       int64_t lines,
                       int64_t entries,
                       const std::string& name) {
  check(pointers.numel() == lines + 1,
        name,
        ": indptr has ",
        pointers.numel(),
        " numbers, ",
        lines + 1,
        " are wanted");
  const Tensor counts = pointers.diff();
  check(pointers[0].item<int64_t>() == 0 && pointers[-1].item<int64_t>() == entries &&
            counts.ge(0).all().item<bool>(),
        name,
        ": indptr must rise from 0 to the number of entries, ",
        entries);
  return at::repeat_interleave(counts);
}

}  // namespace

SparseEntries parse_sparse_npz(std::string_view bytes, const std::string& name) {
  const SparseArchive archive(bytes, name);
  const std::string format = archive.word("format");
  check(format == "csr" || format == "csc" || format == "coo",
        name,
        ": a sparse matrix in the format '",
        printable(format),
        "'; csr, csc and coo are read");
  const Tensor shape = archive.integers("shape");
  check(shape.numel() == 2, name, ": a matrix has 2 dimensions, got ", shape.numel());
  SparseEntries matrix{.rows = shape[0].item<int64_t>(), .columns = shape[1].item<int64_t>()};
  for (const int64_t side : {matrix.rows, matrix.columns})
    check(side >= 1 && side <= kMaxSide,
          name,
          ": a matrix of ",
          matrix.rows,
          " x ",
          matrix.columns,
          "; sides from 1 to ",
          kMaxSide,
          " are read");
  const Tensor value = archive.numbers("data");
  matrix.value = value.to(at::kDouble);
  require_finite(matrix.value, name);
  if (format == "coo") {
    matrix.row = archive.integers("row");
    matrix.column = archive.integers("col");
  } else {
    const bool by_row = format == "csr";
    const Tensor line = expand_pointers(
        archive.integers("indptr"), by_row ? matrix.rows : matrix.columns, value.numel(), name);
    const Tensor place = archive.integers("indices");
    matrix.row = by_row ? line : place;
    matrix.column = by_row ? place : line;
  }
  check(matrix.row.numel() == value.numel() && matrix.column.numel() == value.numel(),
        name,
        ": ",
        value.numel(),
        " values, but ",
        matrix.row.numel(),
        " row and ",
        matrix.column.numel(),
        " column indices");
  check_inside(matrix.row, matrix.rows, "row", name);
  check_inside(matrix.column, matrix.columns, "column", name);
  return matrix;
}

SparseEntries read_sparse_npz(const std::string& path) {
  return parse_sparse_npz(read_file(path), path);
}

}  // namespace eps
