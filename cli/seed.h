// A check for options that are seeds.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdint>
#include <limits>

namespace eps::cli {

// Refuses seeds beyond `most`, which CLI11 would clip, and 010, which CLI11 would read as 8.
inline CLI::Validator seed_up_to(uint64_t most = std::numeric_limits<uint64_t>::max()) {
  const auto check = [most](const std::string& text) -> std::string {
    uint64_t seed = 0;
    const char* end = text.data() + text.size();
    const auto [stop, status] = std::from_chars(text.data(), end, seed);
    const bool plain = status == std::errc() && stop == end && (text[0] != '0' || text.size() == 1);
    if (plain && seed <= most) return "";
    return "a seed is a whole number from 0 to " + std::to_string(most) + ", got " +
           text.substr(0, 40);
  };
  return CLI::Validator(check, "");
}

}  // namespace eps::cli
