// A reader of Python pickles, protocols 0 to 5, as data: nothing is imported, called or executed.
//
// A pickle is a program for a small stack machine whose instructions may name any Python function
// and call it. Here such an instruction only records the function and its arguments; an unknown
// record stays opaque.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace eps {

// These constants limit the size of a pickle. Every instruction takes at least one byte and makes
// at most two values of under 100 bytes each, and a value met again through the memo is shared, so
// memory is also bounded by a multiple of the input's size. A pickle may share and nest without
// bound, even contain itself: code that traverses a pickle must bound its steps and stop at
// kMaxPickleDepth. (Construction and destruction do not recurse.)
constexpr size_t kMaxPickleValues = size_t{1} << 22;
constexpr size_t kMaxPickleStack = size_t{1} << 22;
constexpr size_t kMaxPickleMemo = size_t{1} << 22;
constexpr size_t kMaxPickleDigits = 1000;  // digits of an integer written as decimal text
constexpr size_t kMaxPickleDepth = 100;

struct PickleValue;
using PickleRef = const PickleValue*;  // never null unless stated; owned by its Pickle
using PickleEntries = std::vector<std::pair<PickleRef, PickleRef>>;

// A `PickleBigInteger` is an integer beyond 64 bits: two's complement, little-endian, in the fewest
// bytes.
struct PickleBigInteger {
  std::string_view bytes;
};
// A `PickleString` holds text as stored, which should be UTF-8; this is not verified here.
struct PickleString {
  std::string_view text;
};
struct PickleBytes {
  std::string_view bytes;
};
struct PickleList {
  std::vector<PickleRef> items;
};
struct PickleTuple {
  std::vector<PickleRef> items;
};
struct PickleSet {
  std::vector<PickleRef> items;
};
// A `PickleDict` holds entries in the order of the file; of equal keys Python would keep the last.
struct PickleDict {
  PickleEntries entries;
};
// A `PickleGlobal` is the name of a class or function, such as collections.OrderedDict.
struct PickleGlobal {
  std::string_view module;
  std::string_view name;
};
// A `PickleObject` records a call of `callable`, in place of its result; the other members are null
// unless given.
struct PickleObject {
  PickleRef callable = nullptr;
  PickleRef args = nullptr;
  PickleRef keywords = nullptr;
  PickleRef state = nullptr;    // the value for __dict__ or __setstate__
  PickleRef items = nullptr;    // a list: items to be appended or added
  PickleRef entries = nullptr;  // a dict: entries to be set by key
};
// A `PicklePersistent` refers to an object outside the pickle, such as a tensor's storage.
struct PicklePersistent {
  PickleRef id = nullptr;
};

struct PickleValue {
  // The first alternative is Python's None.
  std::variant<std::monostate,
               bool,
               int64_t,
               PickleBigInteger,
               double,
               PickleString,
               PickleBytes,
               PickleList,
               PickleTuple,
               PickleSet,
               PickleDict,
               PickleGlobal,
               PickleObject,
               PicklePersistent>
      data;

  // Returns the value as a T, or null if it has another type.
  template <class T>
  const T* as() const {
    return std::get_if<T>(&data);
  }
};

struct Pickle {
  std::deque<PickleValue> values;  // owns all values, whatever their cycles and sharing
  std::deque<std::string> texts;   // decoded text that is not verbatim in the input
  PickleRef root = nullptr;
  size_t size = 0;  // bytes read, up to the end of the STOP instruction; more may follow
};

// Reads the pickle at the beginning of `bytes`, which must outlive it: strings are views of the
// input. `name` is for messages.
Pickle parse_pickle(std::string_view bytes, const std::string& name);

}  // namespace eps
