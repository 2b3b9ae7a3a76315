// The font's glyphs, and lines of them.
#include "eps/report/bitmap_font.h"

namespace eps::report {
namespace {

struct Glyph {
  char name;
  // From top to bottom a digit to base 32 (0-9, a-v) for each row of five pixels, the leftmost of
  // which counts 16. Empty columns at either side are not drawn.
  char rows[kTextHeight + 1];
};

constexpr Glyph kGlyphs[] = {
    {'A', "ehhvhhh00"}, {'B', "uhhuhhu00"}, {'C', "ehggghe00"}, {'D', "uhhhhhu00"},
    {'E', "vgguggv00"}, {'F', "vgguggg00"}, {'G', "ehgnhhe00"}, {'H', "hhhvhhh00"},
    {'I', "s88888s00"}, {'J', "72222ic00"}, {'K', "hikokih00"}, {'L', "ggggggv00"},
    {'M', "hrllhhh00"}, {'N', "hhpljhh00"}, {'O', "ehhhhhe00"}, {'P', "uhhuggg00"},
    {'Q', "ehhhlid00"}, {'R', "uhhukih00"}, {'S', "fgge11u00"}, {'T', "v44444400"},
    {'U', "hhhhhhe00"}, {'V', "hhhhha400"}, {'W', "hhhllla00"}, {'X', "hha4ahh00"},
    {'Y', "hhha44400"}, {'Z', "v1248gv00"}, {'a', "00e1fhf00"}, {'b', "gguhhhu00"},
    {'c', "00eggge00"}, {'d', "11fhhhf00"}, {'e', "00ehvge00"}, {'f', "688s88800"},
    {'g', "00fhhhf1e"}, {'h', "gguhhhh00"}, {'i', "g0ggggg00"}, {'j', "80888888g"},
    {'k', "ggikoki00"}, {'l', "ggggggg00"}, {'m', "00qllll00"}, {'n', "00uhhhh00"},
    {'o', "00ehhhe00"}, {'p', "00uhhhugg"}, {'q', "00fhhhf11"}, {'r', "00moggg00"},
    {'s', "00fge1u00"}, {'t', "08s888600"}, {'u', "00hhhhf00"}, {'v', "00hhha400"},
    {'w', "00hhlla00"}, {'x', "00ha4ah00"}, {'y', "00hhhhf1e"}, {'z', "00v248v00"},
    {'0', "4ahhha400"}, {'1', "4c4444e00"}, {'2', "eh1248v00"}, {'3', "eh161he00"},
    {'4', "26aiv2200"}, {'5', "vgu11he00"}, {'6', "68guhhe00"}, {'7', "v12488800"},
    {'8', "ehhehhe00"}, {'9', "ehhf12c00"}, {'.', "000000g00"}, {',', "0000008g0"},
    {':', "00g000g00"}, {'%', "op248j300"}, {'(', "48ggg8400"}, {')', "g84448g00"},
    {'-', "0000s0000"}, {'+', "0044v4400"}, {'=', "000v0v000"}, {'/', "122488g00"},
    {'_', "0000000v0"}, {'|', "444444444"}};
constexpr Glyph kBox = {'?', "vhhhhhv00"};

constexpr int64_t kSpace = 3;  // the width of a space; one column is between two characters

int64_t bits(char digit) { return digit <= '9' ? digit - '0' : digit - 'a' + 10; }

// Returns uint8 (kTextHeight, W), as wide as its ink.
Tensor draw_glyph(char name) {
  if (name == ' ') return at::full({kTextHeight, kSpace}, 255, at::kByte);
  const Glyph* glyph = &kBox;
  for (const Glyph& known : kGlyphs)
    if (known.name == name) glyph = &known;
  Tensor pixels = at::full({kTextHeight, 5}, 255, at::kByte);
  auto pixel = pixels.accessor<uint8_t, 2>();
  int64_t first = 4, last = 0;
  for (int64_t row = 0; row < kTextHeight; ++row)
    for (int64_t column = 0; column < 5; ++column) {
      if (!(bits(glyph->rows[row]) >> (4 - column) & 1)) continue;
      pixel[row][column] = 0;
      first = std::min(first, column);
      last = std::max(last, column);
    }
  return pixels.slice(1, first, last + 1);
}

Tensor enlarge(const Tensor& pixels, int64_t scale) {
  return pixels.repeat_interleave(scale, 0).repeat_interleave(scale, 1);
}

}  // namespace

Tensor draw_text(std::string_view text, int64_t scale) {
  check(scale >= 1, "draw_text: scale must be at least 1, got ", scale);
  const Tensor gap = at::full({kTextHeight, 1}, 255, at::kByte);
  std::vector<Tensor> parts = {gap.slice(1, 0, 0)};
  for (const char character : text) {
    // Bytes behind the first of a character in UTF-8 belong to the box of that character.
    if ((static_cast<unsigned char>(character) & 0xC0) == 0x80) continue;
    if (parts.size() > 1) parts.push_back(gap);
    parts.push_back(draw_glyph(character));
  }
  return enlarge(at::cat(parts, 1), scale);
}

int64_t text_width(std::string_view text, int64_t scale) { return draw_text(text, scale).size(1); }

}  // namespace eps::report
