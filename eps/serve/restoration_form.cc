// What a form asks to be restored, and the command that does the same.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "eps/base/json_fields.h"
#include "eps/methods/method.h"
#include "eps/restore/stated_noise.h"
#include "eps/serve/form.h"

namespace eps::serve {
namespace {

// A `Command` collects the words of a command line.
class Command {
 public:
  void add(const std::string& word) {
    if (!text_.empty()) text_ += ' ';
    const bool is_plain =
        !word.empty() && word.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_-+=.,:/@%") == std::string::npos;
    text_ += is_plain ? word : in_quotes(word);
  }
  void add(const std::string& option, const std::string& value) {
    if (value.empty()) return;
    add(option);
    add(value);
  }
  const std::string& text() const { return text_; }

 private:
  static std::string in_quotes(const std::string& word) {
    std::string quoted = "'";
    for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
    return quoted + "'";
  }
  std::string text_;
};

std::string last_component(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

// Returns a field that is text or a number, as text; "" where it is absent or null.
std::string text_of(JsonFields& fields, const char* name) {
  const Json* value = fields.find(name);
  if (value == nullptr || value->is_null()) return "";
  check(value->is_string() || value->is_number(),
        fields.where(),
        ": ",
        name,
        " must be text or a number");
  return value->is_string() ? value->get<std::string>() : json_text(*value);
}

bool flag_of(JsonFields& fields, const char* name) {
  bool value = false;
  fields.optional(name, value);
  return value;
}

// Throws unless the text is one value of an option: what options become is a spec, in which other
// characters would name further fields, operators and files.
void check_value(const char* name, const std::string& value) {
  const std::string allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,-_ ";
  check(value.find_first_not_of(allowed) == std::string::npos,
        "operator: ",
        name,
        " ",
        quote(value),
        ": letters, numbers and commas are wanted");
}

// Reads the operator. Files come with the form: none that a spec names is read.
void read_operator(JsonFields fields,
                   const Form& form,
                   const Upload& upload,
                   OperatorOptions& o,
                   Command& command) {
  if (flag_of(fields, "mask")) {
    o.mask = upload.save(form, "mask");
    check(!o.mask.empty(), "operator: the file mask is wanted");
    command.add("--mask", last_component(o.mask));
  }
  if (flag_of(fields, "kernel")) {
    o.kernel = upload.save(form, "kernel");
    check(!o.kernel.empty(), "operator: the file kernel is wanted");
    command.add("--kernel", last_component(o.kernel));
  }
  o.flip_kernel = flag_of(fields, "flip_kernel");
  if (o.flip_kernel) command.add("--flip-kernel");
  o.denoise = flag_of(fields, "denoise");
  if (o.denoise) command.add("--denoise");
  const auto text = [&](const char* name, std::string& value, const char* option) {
    value = text_of(fields, name);
    if (option != std::string("--operator")) check_value(name, value);
    command.add(option, value);
  };
  text("motion", o.motion, "--motion");
  text("gaussian", o.gaussian, "--gaussian");
  text("defocus", o.disk, "--defocus");
  text("downscale", o.downscale, "--downscale");
  text("bayer", o.bayer, "--bayer");
  text("border", o.border, "--border");
  text("spec", o.spec, "--operator");
  fields.finish();
  check(o.spec.empty() || files_of(o.spec).empty(),
        "operator: spec ",
        quote(o.spec),
        ": operators of files are not served");
}

// Reads the noise: "6.4", "sigma=0.05", "5,6,9", or the file noise_map.
void read_noise(JsonFields& fields,
                const Form& form,
                const Upload& upload,
                RestorationRequest& request,
                Command& command) {
  const std::string noise = text_of(fields, "noise");
  if (!noise.empty()) {
    const std::vector<double> levels = parse_noise_levels(noise, "noise");
    if (levels.size() == 1)
      request.sigma_y = levels[0];
    else
      request.noise.channels = levels;
    command.add("--noise", noise);
  }
  request.noise.map = upload.save(form, "noise_map");
  check(request.noise.map.empty() || noise.empty(), "noise: a number or noise_map, not both");
  command.add("--noise-map", last_component(request.noise.map));
}

void check_count(const char* name, int64_t value, int64_t most) {
  check(value >= 0 && value <= most, "options: ", name, " must be 1 to ", most, ", got ", value);
}

// Throws where a method's own numbers of steps, particles or iterations, which no evaluation
// interrupts, are beyond the limits.
void check_counts_of_method(const RestorationRequest& request, const ServeLimits& limits) {
  const MethodChoice choice = choose_method(request.method, "", request.steps);
  for (const Field& field : choice.method.fields) {
    if (field.type != Field::Type::integer || !choice.options.has(field.name)) continue;
    const bool copies = field.name == "particles";
    check_count(field.name.c_str(),
                choice.options.integer(field.name),
                copies ? limits.samples : std::max<int64_t>(limits.steps, 1000));
  }
  if (choice.options.has("steps"))
    check_count("steps", choice.options.integer("steps"), limits.steps);
}

void read_sampling(JsonFields& fields,
                   const ServeLimits& limits,
                   RestorationRequest& request,
                   Command& command) {
  RestorationOptions& options = request.options;
  options.samples = 0;
  options.batch = 0;
  fields.optional("samples", options.samples);
  fields.optional("steps", request.steps);
  fields.optional("seed", options.seed);
  fields.optional("quick", request.quick);
  request.method = text_of(fields, "method");
  check_count("samples", options.samples, limits.samples);
  check_count("steps", request.steps, limits.steps);
  if (!request.method.empty()) check_counts_of_method(request, limits);
  if (options.samples > 0) command.add("--samples", std::to_string(options.samples));
  if (request.steps > 0) command.add("--steps", std::to_string(request.steps));
  if (options.seed > 0) command.add("--seed", std::to_string(options.seed));
  if (request.quick) command.add("--quick");
  command.add("--method", request.method);
  using Region = RestorationRequest::Region;
  const std::string region = text_of(fields, "region");
  check(region.empty() || region == "auto" || region == "holes" || region == "whole",
        "options: region must be auto, holes or whole, got ",
        quote(region));
  if (region == "holes") request.region = Region::holes;
  if (region == "whole") request.region = Region::whole;
  if (request.region != Region::automatic) command.add("--region", region);
}

// Reads what both a restoration and a preview have.
RestorationRequest read_measurement_fields(const Site& site,
                                           const Form& form,
                                           const Upload& upload,
                                           JsonFields& fields,
                                           const GivenPicture& picture,
                                           Command& command) {
  RestorationRequest request{.input = picture.path};
  command.add("eps");
  command.add("restore");
  command.add(picture.name);
  request.simulate = flag_of(fields, "simulate");
  if (request.simulate) command.add("--simulate");
  if (const Json* found = fields.find("operator"); found != nullptr && !found->is_null())
    read_operator(fields.object("operator"), form, upload, request.operator_options, command);
  for (const char* file : {"mask", "kernel"})
    check(form.find(file) == nullptr || std::filesystem::exists(upload.folder() + "/" + file),
          "the form: the file ",
          file,
          " is not that of the operator: {\"operator\": {\"",
          file,
          "\": true}} is wanted");
  read_noise(fields, form, upload, request, command);
  read_sampling(fields, site.limits, request, command);
  return request;
}

}  // namespace

JobRequest restoration_of(const Site& site, const Form& form, const Upload& upload) {
  const GivenPicture picture = given_picture(site, form, upload);
  JsonFields fields(form.options, "options");
  Command command;
  JobRequest job{.folder = upload.folder(),
                 .picture = picture.path,
                 .shown = picture.name,
                 .width = picture.width,
                 .height = picture.height};
  job.restoration = read_measurement_fields(site, form, upload, fields, picture, command);
  job.model = text_of(fields, "model");
  if (job.model.empty()) {
    const bool is_large = job.restoration.quick || !job.restoration.operator_options.mask.empty();
    job.model = is_large ? site.networks.usual().holes : site.networks.usual().samples;
  }
  const NetworkEntry& network = site.networks.entry(job.model);
  check(!network.method.empty() || !job.restoration.method.empty(),
        job.model,
        ": a network trained for the posterior is wanted, or options.method for this one");
  command.add("--model", job.model);
  job.command = command.text();
  job.name = text_of(fields, "name").substr(0, 200);
  if (job.name.empty()) job.name = last_component(picture.name);
  fields.find("demo");  // given_picture() has read it
  fields.finish();
  // Wrong words are refused now, and not when the turn comes.
  const OperatorChoice chosen = choose_operator(
      job.restoration.operator_options, network.shape.resolution, job.restoration.simulate);
  if (!job.restoration.simulate && chosen.measurement_dims == 4 && chosen.image_shape) {
    const Shape image = chosen.image_shape({1, 3, job.height, job.width});
    check_pixels(site, image[3], image[2]);
  }
  return job;
}

RestorationRequest measurement_of_form(const Site& site, const Form& form, const Upload& upload) {
  const GivenPicture picture = given_picture(site, form, upload);
  JsonFields fields(form.options, "options");
  Command command;
  return read_measurement_fields(site, form, upload, fields, picture, command);
}

}  // namespace eps::serve
