// A small proportional bitmap font, for words in pictures: nothing else is needed to draw them.
#pragma once

#include "eps/base/core.h"

namespace eps::report {

constexpr int64_t kTextHeight = 9;  // pixels: 7 for capitals, 2 below the line

// Draws one line of text as uint8 (kTextHeight scale, W): 0 where there is ink, 255 elsewhere.
// Letters, digits, the space and . , : % ( ) - + = / _ are known; any other character is drawn as a
// box.
Tensor draw_text(std::string_view text, int64_t scale);

// Returns W of draw_text().
int64_t text_width(std::string_view text, int64_t scale);

}  // namespace eps::report
