// Check of markup: elements closed in order, attributes quoted, nothing unescaped.
#pragma once

#include <regex>
#include <string>
#include <vector>

namespace eps::report {

// Returns the first fault and its place, or an empty string for well-formed markup. One document
// type may stand at the start; a style sheet may have ">".
inline std::string markup_fault(const std::string& text) {
  static const std::regex tag(R"re(<(/?)([a-z0-9]+)((?: [a-zA-Z0-9-]+="[^"<]*")*)(/?)>)re",
                              std::regex::icase);
  static const std::regex entity("&(amp|lt|gt|quot|#39);");
  const std::string type = "<!DOCTYPE html>";
  std::vector<std::string> open;
  for (size_t i = text.starts_with(type) ? type.size() : 0; i < text.size(); ++i) {
    const std::string here = " at \"" + text.substr(i, 60) + "\"";
    const bool in_style = !open.empty() && open.back() == "style";
    if (text[i] == '>' && !in_style) return "stray >" + here;
    if (text[i] == '&' && !std::regex_match(text.substr(i, text.find(';', i) - i + 1), entity)) {
      return "bare &" + here;
    }
    if (text[i] != '<') continue;
    const size_t end = text.find('>', i);
    if (end == std::string::npos) return "unclosed tag" + here;
    // The tag is checked without an embedded picture, because std::regex recurses once a character.
    std::string piece = text.substr(i, end - i + 1);
    const size_t picture = piece.find("base64,");
    if (picture != std::string::npos) piece.erase(picture, piece.find('"', picture) - picture);
    std::smatch parts;
    if (!std::regex_match(piece, parts, tag)) return "malformed tag" + here;
    if (parts[1].length() > 0) {
      if (open.empty() || open.back() != parts[2]) return "closes nothing" + here;
      open.pop_back();
    } else if (parts[4].length() == 0) {
      open.push_back(parts[2]);
    }
    i = end;
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

}  // namespace eps::report
