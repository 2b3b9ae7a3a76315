// Words for the noise of a measurement, as people state it.
#include "eps/restore/stated_noise.h"

#include <charconv>
#include <cmath>

namespace eps {

double parse_positive(const std::string& text,
                      const std::string& whole,
                      const std::string& option,
                      const std::string& wanted) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, value);
  check(status == std::errc() && stop == end && value > 0 && std::isfinite(value),
        option,
        " ",
        whole,
        ": a number > 0 is wanted, ",
        wanted);
  return value;
}

std::vector<double> parse_noise_levels(const std::string& text, const std::string& option) {
  const std::string prefix = "sigma=";
  const bool in_units = text.starts_with(prefix);
  std::vector<double> levels;
  size_t begin = in_units ? prefix.size() : 0;
  for (size_t end = 0; end != std::string::npos; begin = end + 1) {
    end = text.find(',', begin);
    const double value = parse_positive(text.substr(begin, end - begin),
                                        text,
                                        option,
                                        "in grey levels of 8 bits, or sigma=V in units of [-1, 1]");
    levels.push_back(in_units ? value : value * kGreyLevel);
  }
  return levels;
}

}  // namespace eps
