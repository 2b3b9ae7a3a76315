// Numbers that all claims of `eps verify` share.
#pragma once

namespace eps {

inline constexpr double kVerifySigmaY = 0.05;       // the measurement noise of every problem
inline constexpr double kVerifyStandardErrors = 5;  // a statistic further off its value has failed

}  // namespace eps
