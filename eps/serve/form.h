// What a client sends with a request: options in JSON, and files.
#pragma once

#include "eps/base/json.h"
#include "eps/serve/job.h"
#include "eps/serve/multipart.h"
#include "eps/serve/site.h"

namespace eps::serve {

// A `Form` holds the body of a request and its parts.
struct Form {
  std::string body = {};
  std::vector<Part> parts = {};
  Json options = {};

  const Part* find(const std::string& name) const;  // null: there is none
};

// Reads the body; `names` are those that its files may have.
std::unique_ptr<Form> read_form(const Request& request, const std::vector<std::string>& names);

// An `Upload` is the private folder of a form's files; its destructor removes the folder, unless
// keep() was called.
class Upload {
 public:
  explicit Upload(const Site& site);
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;
  ~Upload();

  const std::string& folder() const { return folder_; }
  // Writes the part, if there is one, and returns its path; "" otherwise. Throws a Refusal for a
  // picture of too many pixels, before it is decoded.
  std::string save(const Form& form, const std::string& name) const;
  void keep() { kept_ = true; }

 private:
  const Site& site_;
  const std::string folder_;
  bool kept_ = false;
};

// A `GivenPicture` is the picture that a form sends, or a demo picture that it names.
struct GivenPicture {
  std::string path = {};
  std::string name = {};  // on the command line
  int64_t width = 0, height = 0;
};
GivenPicture given_picture(const Site& site, const Form& form, const Upload& upload);

// Returns what the form asks to be restored; see docs/http.md.
JobRequest restoration_of(const Site& site, const Form& form, const Upload& upload);

// Returns the options of the operator and of the noise alone, for a preview.
RestorationRequest measurement_of_form(const Site& site, const Form& form, const Upload& upload);

// Returns the path of a demo picture; "" if there is none of this name.
std::string demo_picture(const std::string& name);
std::vector<std::string> demo_names();

}  // namespace eps::serve
