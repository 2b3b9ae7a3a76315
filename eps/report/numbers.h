// Numbers as text, for tables and axes.
#pragma once

#include <string>

namespace eps::report {

// Returns 24.34 for 2 digits after the point, -6.52e-03 for -2: negative digits mean powers of ten.
std::string fixed_number(double value, int digits);

// Returns a number without needless digits: "100", "49.5".
std::string plain_number(double value);

// Returns the number in a format, or a dash where it is not known: 0 or less.
std::string known_number(double value, std::string (*format)(double));

// Returns a coordinate of a drawing: "12.50".
std::string coordinate(double value);

// Puts real minus signs, which are as wide as digits.
std::string typeset(const std::string& number);

// Returns three significant digits, thousands as k, M, G: "0.0123", "4.1", "12.8M".
std::string brief_number(double value);

// Returns three significant digits or all before the point: "0.0123", "4.10", "1234".
std::string duration_number(double value);

}  // namespace eps::report
