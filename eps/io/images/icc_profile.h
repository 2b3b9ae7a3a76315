// ICC profiles, which are kept with the pixels and never applied.
#pragma once

#include "eps/base/core.h"

namespace eps {

// Profiles of cameras and screens have some kB, those of printers a few MB.
constexpr size_t kMaxIccProfile = size_t{4} << 20;

// The name of a profile where its file gives none.
constexpr const char* kIccName = "ICC profile";

// Returns the profile without what follows its end; "" of one that is no profile of grey or RGB, is
// cut short or longer than kMaxIccProfile.
std::string checked_icc_profile(std::string_view profile);

// Returns whether a profile that was checked is one of pixels with so many channels.
bool icc_profile_suits(std::string_view profile, int64_t channels);

// Returns the profile that a JPEG holds in segments, each behind its number and their count; "" if
// one is missing or there twice.
std::string join_icc_profile(const std::vector<std::string_view>& segments);

}  // namespace eps
