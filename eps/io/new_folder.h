// A new folder that appears complete or not at all.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `NewFolder` collects files in a temporary folder, which commit() renames in one step. Without
// commit() nothing remains; the next NewFolder of the same name removes the remains of a killed
// process. Of two at once the first to commit wins, and the other gets an Error.
//
// A folder that already exists, and is empty, may be a mount point, which cannot be renamed: the
// temporary folder is then inside it, and commit() moves the files up one by one.
class NewFolder {
 public:
  explicit NewFolder(const std::string& path);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  ~NewFolder();

  // Returns whether the path is free: no file, or a folder that is empty but for temporary folders.
  static bool is_free(const std::string& path);

  // Returns the path at which to write the file of this name.
  std::string file(const std::string& name) const { return temporary_ + "/" + name; }
  void commit();

 private:
  void move_files_up();

  const std::string path_;
  const bool inside_;      // the temporary folder is in path_, not beside it
  std::string temporary_;  // empty: committed
  int lock_ = -1;          // of the temporary folder, held while files are written
};

}  // namespace eps
