// The verb `eps restore` draws posterior samples for a measurement of the user.
#include "cli/restore.h"

#include <fmt/ranges.h>

#include <iostream>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/seed.h"
#include "cli/verbs.h"
#include "eps/report/restored_files.h"
#include "eps/restore/stated_noise.h"

namespace eps::cli {
namespace {

struct RestoreOptions {
  RestorationRequest request{.options = {.samples = 0, .batch = 0}};
  ModelOptions network;
  std::string noise, growth, out, region = "auto";
  bool arrays = false;
};

// Refuses statements of the noise that contradict each other or are not complete.
void check_noise_options(const RestoreOptions& o) {
  const NoiseModel& noise = o.request.noise;
  std::vector<std::string> given;
  for (const auto& [option, value] : {std::pair<std::string, std::string>{"--noise-map", noise.map},
                                      {"--noise-spectrum", noise.spectrum},
                                      {"--noise-growth", o.growth}})
    if (!value.empty()) given.push_back(option + " " + value);
  // Noise that grows with the signal does so from that of black.
  if (!o.noise.empty() && o.growth.empty()) given.insert(given.begin(), "--noise " + o.noise);
  check(given.size() <= 1,
        fmt::format("{}", fmt::join(given, " and ")),
        ": one statement of the noise is wanted");
  check(o.growth.empty() || !o.noise.empty() || o.request.simulate,
        "--noise-growth ",
        o.growth,
        ": --noise is wanted, too: the deviation at black");
}

void set_noise(const RestoreOptions& o, RestorationRequest& request) {
  check_noise_options(o);
  if (!o.noise.empty()) {
    const std::vector<double> levels = parse_noise_levels(o.noise, "--noise");
    check(levels.size() == 1 || o.growth.empty(),
          "--noise ",
          o.noise,
          ": one deviation, that of black, is wanted with --noise-growth");
    if (levels.size() == 1)
      request.sigma_y = levels[0];
    else
      request.noise.channels = levels;
  }
  // A variance of b grey levels a grey level is b kGreyLevel in units of [-1, 1].
  if (!o.growth.empty())
    request.noise.growth =
        kGreyLevel * parse_positive(o.growth,
                                    o.growth,
                                    "--noise-growth",
                                    "in grey levels squared by which the variance grows with each "
                                    "grey level");
}

void print_residual(const RestorationReport& report) {
  const size_t count = report.residual.statistics.size();
  for (const std::string& finding : report.findings) fmt::print("finding: {}\n", finding);
  if (report.approximate)
    fmt::print("residual: not judged, as its tests are set for networks of the posterior\n");
  else if (report.findings.empty() && count > 0)
    fmt::print("residual: like noise in {} tests of its structure\n", count);
  if (!report.kernel.empty()) fmt::print("kernel: {}\n", report.kernel);
}

void print_summary(const RestorationReport& report, const std::string& folder) {
  fmt::print("{}: {}, noise of {:.3g} grey levels (sigma={:.3g}), {}\n",
             report.input,
             report.operator_spec,
             report.sigma_y / kGreyLevel,
             report.sigma_y,
             report.noise_at_limit         ? "estimated (the least of the network's training)"
             : report.noise_estimated      ? "estimated"
             : !report.noise_words.empty() ? report.noise_words
             : report.simulated            ? "simulated"
                                           : "as stated");
  if (!report.windows.empty())
    fmt::print("holes restored in {} window{} around them; measured pixels stay as they are\n",
               report.windows.size(),
               report.windows.size() == 1 ? "" : "s");
  if (report.measured_share < 1 || report.operator_spec.starts_with("inpaint"))
    fmt::print("{:.3g}% of the {} are measured\n",
               100 * report.measured_share,
               report.operator_spec.starts_with("inpaint") ? "pixels" : "entries");
  fmt::print("chi2 {:.2f}: {}\n", report.chi2, report.verdict());
  print_residual(report);
  if (report.psnr_of_samples && report.psnr_of_mean)
    report.quick ? fmt::print("PSNR of the mean {:.2f} dB\n", *report.psnr_of_mean)
                 : fmt::print("PSNR of a sample {:.2f} dB, of the mean of all samples {:.2f} dB\n",
                              *report.psnr_of_samples,
                              *report.psnr_of_mean);
  if (report.quick) {
    fmt::print("the mean of one evaluation, {:.1f} s; see {}/mean.png\n", report.seconds, folder);
    return;
  }
  fmt::print("samples: {}, evaluations of each: {:g}, {:.1f} s; see {}/sheet.png\n",
             report.samples,
             report.evaluations_per_sample,
             report.seconds,
             folder);
}

void run_restore(RestoreOptions o) {
  const std::string folder =
      o.out.empty() ? std::filesystem::path(o.request.input).stem().string() + "-restored" : o.out;
  check_new_folder(folder);
  set_noise(o, o.request);
  using Region = RestorationRequest::Region;
  if (o.region != "auto") o.request.region = o.region == "holes" ? Region::holes : Region::whole;
  if (o.request.sigma_y && *o.request.sigma_y < kGreyLevel / 2 && !o.noise.starts_with("sigma="))
    std::cerr << "eps: warning: --noise " << o.noise
              << " is in grey levels of 8 bits; did you mean "
              << "sigma=" << o.noise << "?\n";
  name_network(o.network, o.request.quick || !o.request.operator_options.mask.empty());
  const Checkpoint model = load_restoring_network(o.network, o.request.method);
  const RestorationResult result = restore_in_sight(o.request, o.network, model);
  report::write_restored(folder, result, o.arrays);
  print_summary(result.report, folder);
}

void add_operator_options(CLI::App& verb, OperatorOptions& o) {
  verb.add_option(
      "--mask", o.mask, "Missing pixels: an image or array in which white or 1 is measured");
  auto* kernel = verb.add_option(
      "--kernel", o.kernel, "Blur: an image or array of the kernel, convolved, origin at size/2");
  verb.add_flag(
          "--flip-kernel",
          o.flip_kernel,
          "Turn the kernel by 180 degrees: for kernels of programs that correlate (cv2, torch)")
      ->needs(kernel);
  verb.add_option("--motion", o.motion, "Motion blur: LENGTH,ANGLE in pixels and degrees");
  verb.add_option(
      "--gaussian", o.gaussian, "Gaussian blur: standard deviation of the kernel in pixels");
  verb.add_option(
      "--disk,--defocus", o.disk, "Lens out of focus: radius of the blur's disk in pixels");
  verb.add_option("--border",
                  o.border,
                  "Beyond the frame of a blur: valid (nothing is known; a network for one size "
                  "does not use the border of a picture of full size), reflect101 (cv2), reflect, "
                  "replicate, black, zero (of "
                  "arrays in [-1, 1]) or circular; valid if not given, circular with --simulate");
  verb.add_option(
      "--downscale",
      o.downscale,
      "Lower resolution: K, where each pixel is the mean of K x K, or K,FILTER as Pillow "
      "reduces: 4,bicubic");
  verb.add_option("--bayer", o.bayer, "Mosaic of a camera: rggb, bggr, grbg or gbrg");
  verb.add_flag("--denoise", o.denoise, "A picture that is only noisy");
  auto* any = verb.add_option(
      "--operator", o.spec, "Any other operator, or a task; see eps list operators");
  verb.add_flag("--centred", o.centred, "The zero frequency of k-space is in the middle, not first")
      ->needs(any);
}

void add_sampling_options(CLI::App& verb, RestoreOptions& o) {
  const CLI::Range count(1, 1000000);
  RestorationRequest& request = o.request;
  RestorationOptions& options = request.options;
  verb.add_option(
          "--samples",
          options.samples,
          "Samples, 8 if not given, 4 of a picture of more than 256 x 256; the 90% interval "
          "comes from quantiles for 19 or more, from Student's t for fewer, and is absent "
          "for 1")
      ->check(count);
  verb.add_option("--method",
                  request.method,
                  "Method for the network, such as pigdm or dps:scale=5 for a prior; see eps list "
                  "methods; the one that it was trained for if not given");
  verb.add_option(
          "--steps",
          request.steps,
          "Steps of the method; its own number if not given, 20 for a network of the posterior, "
          "10 on a CPU for a picture of more than 256 x 256")
      ->check(count);
  verb.add_option("--seed", options.seed, "Seed of the samples and of the simulation")
      ->check(seed_up_to())
      ->capture_default_str();
  verb.add_option("--batch",
                  options.batch,
                  "Samples in memory together; as many as fit, up to 16, "
                  "if not given")
      ->check(count);
  verb.add_option("--region",
                  o.region,
                  "Holes of a mask: restored in windows around them (holes), with the picture "
                  "(whole), or in windows where the picture is large and these are small (auto)")
      ->check(CLI::IsMember({"auto", "holes", "whole"}))
      ->capture_default_str();
  auto* quick = verb.add_flag(
      "--quick", request.quick, "One evaluation: the mean only, without samples and intervals");
  for (const char* other : {"--samples", "--steps", "--method"})
    quick->excludes(verb.get_option(other));
}

}  // namespace

Checkpoint load_restoring_network(const ModelOptions& options, const std::string& method) {
  Checkpoint model = load_any_model(options);
  check_restores(model, options.path, method);
  return model;
}

RestorationResult restore_in_sight(RestorationRequest request,
                                   const ModelOptions& options,
                                   const Checkpoint& model) {
  std::optional<Progress> progress;
  request.network = options.path;
  request.on_stage = [&](const std::string& name, int64_t total) { progress.emplace(name, total); };
  request.options.on_evaluation = [&](int64_t count) { progress->advance(count); };
  request.on_warning = [](const std::string& warning) {
    std::cerr << "eps: warning: " << warning << '\n';
  };
  return restore_measurement(request, model);
}

void add_restore(CLI::App& app) {
  const auto o = std::make_shared<RestoreOptions>();
  auto* verb = app.add_subcommand(
      "restore", "Restore your own measurement: posterior samples with uncertainty");
  verb->add_option("IMAGE",
                   o->request.input,
                   "Measurement: PNG or JPEG, or an array in units of [-1, 1] (uint8: 8 bits)")
      ->required();
  add_operator_options(*verb, o->request.operator_options);
  verb->add_option(
      "--noise",
      o->noise,
      "Standard deviation of the noise: 6.4 in grey levels of 8 bits, sigma=0.05 in units of "
      "[-1, 1], 5,6,9 by channel; estimated if not given");
  verb->add_option("--noise-map",
                   o->request.noise.map,
                   "Deviation of each pixel: a picture in grey levels, or an array in units of "
                   "[-1, 1], H x W or C x H x W");
  verb->add_option(
      "--noise-spectrum",
      o->request.noise.spectrum,
      "Coloured noise: an array of its power by frequency, as fft2 or rfft2 orders it");
  verb->add_option("--noise-growth",
                   o->growth,
                   "Noise that grows with the signal: by so many grey levels the variance grows "
                   "with each grey level; --noise is that of black");
  verb->add_flag("--simulate",
                 o->request.simulate,
                 "IMAGE is clean: degrade it first, with --noise sigma=0.05 if not given");
  verb->add_option(
      "--model",
      o->network.path,
      "Network for the posterior or the method: a name or a file; photos-eps if not given, on a "
      "CPU for --quick and --mask alone, and photos-eps-small else");
  add_device_options(*verb, o->network);
  add_sampling_options(*verb, *o);
  verb->add_option("--out",
                   o->out,
                   "Folder to write, new or empty; the name of IMAGE with -restored if not given");
  verb->add_flag("--arrays",
                 o->arrays,
                 "Write .npy arrays beside the pictures of more than 4 million pixels, too");
  verb->callback([o] { run_restore(*o); });
}

}  // namespace eps::cli
