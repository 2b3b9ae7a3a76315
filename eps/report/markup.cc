// HTML and SVG as text: everything from outside escaped, every element closed.
#include "eps/report/markup.h"

namespace eps::report {
namespace {

std::string open_tag(const std::string& name, const Attributes& attributes) {
  std::string tag = "<" + name;
  for (const auto& [key, value] : attributes) tag += " " + key + "=\"" + escape_markup(value) + '"';
  return tag;
}

}  // namespace

std::string escape_markup(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        // Control characters are not allowed in markup, not even escaped.
        escaped += static_cast<unsigned char>(c) < 0x20 && c != '\n' ? ' ' : c;
    }
  }
  return escaped;
}

std::string element(const std::string& name,
                    const Attributes& attributes,
                    const std::string& content) {
  return open_tag(name, attributes) + ">" + content + "</" + name + ">";
}

std::string element(const std::string& name, const Attributes& attributes) {
  return open_tag(name, attributes) + "/>";
}

std::string key(const std::string& sentence) {
  return sentence.empty() ? "" : element("p", {{"class", "key"}}, sentence) + "\n";
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;  // 24 bits, as four digits of six
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace eps::report
