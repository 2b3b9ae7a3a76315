// The description of a network's input (App. C, Input Configuration Ablation): one image, and
// further channels beside it.
#pragma once

#include "eps/base/core.h"

namespace eps {

// A `Geometry` names the image that the network corrects: the state x_t, the pivot mu_star, or a
// point on one of the two bridges from x0 to picture(y) (eps/diffusion/bridge.h).
enum class Geometry { state, pivot, indi, i2sb };

// A `Channel` is as wide as the image:
//   y          picture(y), the measurement as an image
//   deviation  ln(diag Sigma_star) / 8, the scale on which EDM embeds sigma
//   precision  ln(1 + diag(A'A)/(4 sigma_y^2)) / 8: the knowledge of each pixel beyond a prior
//              deviation of 1/2. In y a hole of a mask and a grey pixel are both 0, and sigma_y
//              does not appear; the precision tells them apart and depends on sigma_y
//   skip       c_skip x, the linear estimate that the network corrects, which the anisotropic
//              preconditioning fills in. It is no multiple of c_in x, and the relation of the two
//              depends on the operator, which is not among the network's inputs
// side_channel() in query.cc computes the others. A new channel has a value here, a name in
// kChannels (network_input.cc) and a case in side_channel(); where it needs the spectrum of the
// operator, needs_spectrum() says so, and docs/file_formats.md lists it.
enum class Channel { y, deviation, precision, skip };

// A `NetworkInput` lists the image and the side channels that a network takes.
struct NetworkInput {
  Geometry geometry = Geometry::state;
  std::vector<Channel> side = {};
  bool scale_side = false;  // EDM's c_in(sigma) multiplies the side, and hides it at high noise

  bool operator==(const NetworkInput&) const = default;
  bool has(Channel channel) const;
  NetworkInput with(Channel channel) const;  // appended, unless listed already
  NetworkInput without(Channel channel) const;

  bool is_bridge() const { return geometry == Geometry::indi || geometry == Geometry::i2sb; }
  // Returns whether the input needs a measurement: true for all but a prior's input.
  bool conditional() const {
    return geometry != Geometry::state || !without(Channel::skip).side.empty();
  }
  // Returns whether the input needs diagonals of functions of A'A, whose logarithms need sigma_y >
  // 0.
  bool needs_spectrum() const { return has(Channel::deviation) || has(Channel::precision); }
  // Returns the number of input channels of a network for images of `image_channels` channels.
  int64_t channels(int64_t image_channels) const {
    return image_channels * (1 + static_cast<int64_t>(side.size()));
  }

  static const NetworkInput prior;          // [x_t]
  static const NetworkInput palette;        // [x_t, y], Palette (Saharia et al. 2022)
  static const NetworkInput eps;            // [mu_star, y], the paper's EPS
  static const NetworkInput eps_precision;  // [mu_star, y, precision]
  static const NetworkInput pivot;          // [mu_star]
  static const NetworkInput pivot_sigma;    // [mu_star, deviation]
  static const NetworkInput indi;           // [x_t] on the bridge of InDI
  static const NetworkInput i2sb;           // [x_t] on the bridge of I2SB
};

inline const NetworkInput NetworkInput::prior{};
inline const NetworkInput NetworkInput::palette{Geometry::state, {Channel::y}};
inline const NetworkInput NetworkInput::eps{Geometry::pivot, {Channel::y}};
inline const NetworkInput NetworkInput::eps_precision{Geometry::pivot,
                                                      {Channel::y, Channel::precision}};
inline const NetworkInput NetworkInput::pivot{Geometry::pivot};
inline const NetworkInput NetworkInput::pivot_sigma{Geometry::pivot, {Channel::deviation}};
inline const NetworkInput NetworkInput::indi{Geometry::indi};
inline const NetworkInput NetworkInput::i2sb{Geometry::i2sb};

// Returns the inputs that have a name of their own. Where a network serves two, the first is
// preferred.
const std::vector<std::pair<std::string, NetworkInput>>& input_presets();

// Returns the name of a preset, or of the geometry and the channels: "pivot+y+deviation". The name
// does not contain scale_side. parse_input() also takes a preset's name followed by channels:
// "eps+skip".
std::string to_string(const NetworkInput& input);
NetworkInput parse_input(const std::string& name);

// Returns whether a network can answer a method's queries: the geometries agree, and the network
// has the method's side channels; eps_precision serves eps. A method without side channels needs a
// network without any, since palette is no prior. But a network of the pivot that sees what is
// measured serves as a prior, too: where nothing is (UnmeasuredQueries). The skip does not count.
bool serves(const NetworkInput& network, const NetworkInput& method);

}  // namespace eps
