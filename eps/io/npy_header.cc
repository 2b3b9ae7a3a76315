// Parser and writer of the Python dictionary in a .npy header.
#include "eps/io/npy_header.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "eps/base/printable.h"
#include "eps/io/bytes.h"

namespace eps {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// A `DictionaryParser` reads {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class DictionaryParser {
 public:
  DictionaryParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    std::optional<std::string> descr;
    std::optional<bool> fortran_order;
    std::optional<Shape> shape;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        set(descr, key, this->descr());
      } else if (key == "fortran_order") {
        set(fortran_order, key, boolean());
      } else if (key == "shape") {
        set(shape, key, tuple());
      } else {
        fail(name_, ": unknown key '", printable(key), "' in the .npy header");
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_space();
    check(text_.empty(), name_, ": the .npy header goes on behind its '}' with ", here());
    check(descr && fortran_order && shape,
          name_,
          ": the .npy header must hold 'descr', 'fortran_order' and 'shape'");
    return {*descr, *fortran_order, *shape};
  }

 private:
  template <class Value>
  void set(std::optional<Value>& field, const std::string& key, Value value) {
    check(!field, name_, ": '", key, "' appears twice in the .npy header");
    field = std::move(value);
  }

  void skip_space() {
    text_.remove_prefix(std::min(text_.find_first_not_of(" \t\r\n"), text_.size()));
  }

  bool accept(char wanted) {
    skip_space();
    if (text_.empty() || text_.front() != wanted) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char wanted) {
    check(accept(wanted), name_, ": '", wanted, "' is missing in the .npy header, found ", here());
  }

  std::string here() const { return text_.empty() ? "its end" : quote_start(text_); }

  std::string string() {
    skip_space();
    const char quote = text_.empty() ? ' ' : text_.front();
    const size_t end = quote == '\'' || quote == '"' ? text_.find(quote, 1) : text_.npos;
    check(end != text_.npos, name_, ": a string is missing in the .npy header, found ", here());
    const std::string value(text_.substr(1, end - 1));
    text_.remove_prefix(end + 1);
    return value;
  }

  std::string descr() {
    skip_space();
    check(text_.empty() || (text_.front() != '[' && text_.front() != '('),
          name_,
          ": structured dtypes are not read, a plain number type such as '<f4' is wanted");
    return string();
  }

  bool boolean() {
    skip_space();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return value;
    }
    fail(name_, ": True or False is missing in the .npy header, found ", here());
  }

  int64_t integer() {
    skip_space();
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    check(
        error == std::errc(),
        name_,
        error == std::errc::result_out_of_range ? ": dimension beyond 2^63" : ": dimension missing",
        " in the .npy header, at ",
        here());
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    accept('L');  // Python 2 wrote long integers as 3L
    return value;
  }

  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      shape.push_back(integer());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  std::string_view text_;
  const std::string& name_;
};

uint64_t little_endian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

NpyHeader take_npy_header(std::string_view& bytes, const std::string& name) {
  check(
      bytes.starts_with(kMagic), name, ": not a .npy file (starts with ", quote_start(bytes), ")");
  const size_t version_end = kMagic.size() + 2;
  check(bytes.size() >= version_end, name, ": the .npy file ends inside its magic bytes");
  const int major = static_cast<unsigned char>(bytes[kMagic.size()]);
  const int minor = static_cast<unsigned char>(bytes[kMagic.size() + 1]);
  check(major >= 1 && major <= 3 && minor == 0,
        name,
        ": .npy format ",
        major,
        ".",
        minor,
        " is not read, only 1.0, 2.0 and 3.0");
  const size_t prefix = version_end + (major == 1 ? 2 : 4);
  check(bytes.size() >= prefix,
        name,
        ": the .npy file ends inside its header length: expected at least ",
        prefix,
        " bytes, found ",
        bytes.size());
  const uint64_t length = little_endian(bytes.substr(version_end, prefix - version_end));
  check(length <= bytes.size() - prefix,
        name,
        ": the .npy header ends behind the file: expected ",
        length,
        " bytes of header, found ",
        bytes.size() - prefix);
  const NpyHeader header = DictionaryParser(bytes.substr(prefix, length), name).parse();
  bytes.remove_prefix(prefix + length);
  return header;
}

std::string format_npy_header(const NpyHeader& header) {
  std::string shape;
  for (const int64_t size : header.shape)
    shape += fmt::format("{}{}", shape.empty() ? "" : ", ", size);
  if (header.shape.size() == 1) shape += ",";
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}",
                                 header.descr,
                                 header.fortran_order ? "True" : "False",
                                 shape);
  // NumPy leaves room for the growing dimension to reach 21 digits in place.
  if (!header.shape.empty()) {
    const int64_t growing = header.fortran_order ? header.shape.back() : header.shape.front();
    text.append(21 - std::to_string(growing).size(), ' ');
  }
  const size_t prefix = kMagic.size() + 4;
  text.append(63 - (prefix + text.size()) % 64, ' ');
  text += '\n';
  std::string bytes(kMagic);
  bytes += {'\1', '\0', static_cast<char>(text.size() % 256), static_cast<char>(text.size() / 256)};
  return bytes + text;
}

}  // namespace eps
