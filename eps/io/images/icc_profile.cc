// ICC profiles, which are kept with the pixels and never applied (ICC.1:2022, sections 7.2 and
// B.4).
#include "eps/io/images/icc_profile.h"

namespace eps {
namespace {

constexpr size_t kIccHeader = 128, kColourSpace = 16, kSignature = 36, kTagCount = 4;
constexpr std::string_view kGrey = "GRAY", kRgb = "RGB ";

}  // namespace

std::string checked_icc_profile(std::string_view profile) {
  if (profile.size() < kIccHeader + kTagCount) return "";
  size_t size = 0;
  for (const char byte : profile.substr(0, 4)) size = size << 8 | static_cast<unsigned char>(byte);
  if (size < kIccHeader + kTagCount || size > profile.size() || size > kMaxIccProfile) return "";
  const std::string_view space = profile.substr(kColourSpace, 4);
  if (profile.substr(kSignature, 4) != "acsp" || (space != kGrey && space != kRgb)) return "";
  return std::string(profile.substr(0, size));
}

bool icc_profile_suits(std::string_view profile, int64_t channels) {
  return profile.substr(kColourSpace, 4) == (channels == 1 ? kGrey : kRgb);
}

std::string join_icc_profile(const std::vector<std::string_view>& segments) {
  std::vector<std::string_view> parts(segments.size());
  size_t size = 0;
  for (const std::string_view segment : segments) {
    if (segment.size() <= 2) return "";
    const size_t number = static_cast<unsigned char>(segment[0]),
                 count = static_cast<unsigned char>(segment[1]);
    if (count != parts.size() || number < 1 || number > count || !parts[number - 1].empty())
      return "";
    parts[number - 1] = segment.substr(2);
    size += segment.size() - 2;
  }
  if (size > kMaxIccProfile) return "";
  std::string joined;
  for (const std::string_view part : parts) joined += part;
  return checked_icc_profile(joined);
}

}  // namespace eps
