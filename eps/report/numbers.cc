// Numbers as text, for tables and axes.
#include "eps/report/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace eps::report {

std::string fixed_number(double value, int digits) {
  if (std::isinf(value)) return value < 0 ? "-∞" : "∞";
  std::string text =
      digits < 0 ? fmt::format("{:.{}e}", value, -digits) : fmt::format("{:.{}f}", value, digits);
  // A minus before a zero would say more than the digits do.
  if (text[0] == '-' && text.find_first_of("123456789") == std::string::npos) text.erase(0, 1);
  return text;
}

std::string plain_number(double value) {
  return std::round(value) == value ? fmt::format("{:.0f}", value) : fmt::format("{:.1f}", value);
}

std::string typeset(const std::string& number) {
  std::string text;
  for (const char c : number) text += c == '-' ? "−" : std::string(1, c);
  return text;
}

std::string brief_number(double value) {
  const double size = std::abs(value);
  // 999.5 of one unit is already 1.00 of the next.
  for (const auto& [unit, letter] :
       {std::pair{1e9, 'G'}, std::pair{1e6, 'M'}, std::pair{1e3, 'k'}}) {
    if (size >= 0.9995 * unit) return fmt::format("{:.3g}{}", value / unit, letter);
  }
  return fmt::format("{:.3g}", value);
}

std::string duration_number(double value) {
  if (std::abs(value) >= 99.95) return fmt::format("{:.0f}", value);
  return fmt::format("{:#.3g}", value);
}

std::string known_number(double value, std::string (*format)(double)) {
  return value > 0 ? format(value) : "–";
}

std::string coordinate(double value) { return fmt::format("{:.2f}", value); }

}  // namespace eps::report
