// HTML and SVG as text: everything from outside escaped, every element closed.
#pragma once

#include "eps/base/core.h"

namespace eps::report {

// Escapes text for between tags or inside an attribute's quotes.
std::string escape_markup(std::string_view text);

using Attributes = std::vector<std::pair<std::string, std::string>>;  // values are escaped here

// Returns <name key="value">content</name>; the content is markup already.
std::string element(const std::string& name,
                    const Attributes& attributes,
                    const std::string& content);
// Returns <name key="value"/>.
std::string element(const std::string& name, const Attributes& attributes);

// Returns a quiet sentence of explanation, which is markup already; nothing if it is empty.
std::string key(const std::string& sentence);

// Encodes bytes by RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace eps::report
