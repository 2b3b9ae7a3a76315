// A strict reader of the fields of a JSON object.
//
//   JsonFields fields(json, "c.json");
//   fields.required("batch", config.batch);   // "c.json: batch must be a whole number, got true"
//   fields.optional("title", config.title);
//   fields.finish();                          // "c.json: unknown field "bach" (did you ..."
#pragma once

#include <nlohmann/json.hpp>
#include <set>

#include "eps/base/json.h"
#include "eps/base/printable.h"

namespace eps {

class JsonFields {
 public:
  enum class Null { refused, is_nan };  // treatment of null in place of a number

  // Reads from `object`, which must be a JSON object and must outlive the reader. `where` begins
  // messages.
  JsonFields(const Json& object, std::string where, Null null = Null::refused);
  JsonFields(Json&& object, std::string where, Null null = Null::refused) = delete;

  const std::string& where() const { return where_; }
  bool has(const char* name) const { return object_->contains(name); }

  // Reads a field that must be present: text, true or false, a number, a whole number, or lists and
  // objects of these. The function read_fields(JsonFields&, Value&), in namespace eps or in the
  // namespace of Value, reads any other struct from an object.
  template <class Value>
  void required(const char* name, Value& value) {
    read(at(name), place(name), value);
  }
  // Reads a field that may be absent; the value then stays unchanged.
  template <class Value>
  void optional(const char* name, Value& value) {
    if (const Json* found = find(name)) read(*found, place(name), value);
  }
  template <class Value>
  Value get(const char* name) {
    Value value{};
    required(name, value);
    return value;
  }

  // Returns the value of a field, which then counts as read; find() returns null where the field is
  // absent.
  const Json* find(const char* name);
  const Json& at(const char* name);
  JsonFields object(const char* name) { return {at(name), place(name), null_}; }
  // Returns a reader for each object of a list, or no readers where the list is absent.
  std::vector<JsonFields> list(const char* name);

  // Throws an Error for a field that has not been read; `whose` ends the message.
  void finish(const std::string& whose = "") const;

 private:
  std::string place(const char* name) const { return where_ + ": " + name; }

  [[noreturn]] static void wrong(const Json& json, const std::string& where, const char* wanted);
  void read(const Json& json, const std::string& where, std::string& value) const;
  void read(const Json& json, const std::string& where, bool& value) const;
  void read(const Json& json, const std::string& where, int64_t& value) const;
  void read(const Json& json, const std::string& where, uint64_t& value) const;
  void read(const Json& json, const std::string& where, double& value) const;

  template <class Value>
  void read(const Json& json, const std::string& where, std::vector<Value>& values) const {
    if (!json.is_array()) wrong(json, where, "a list");
    values.clear();
    for (const Json& item : json) {
      Value value{};
      read(item, where + "[" + std::to_string(values.size()) + "]", value);
      values.push_back(std::move(value));
    }
  }
  template <class Value>
  void read(const Json& json,
            const std::string& where,
            std::map<std::string, Value>& values) const {
    if (!json.is_object()) wrong(json, where, "a JSON object");
    values.clear();
    for (const auto& [name, item] : json.items())
      read(item, where + ": " + printable(name), values[name]);
  }
  template <class Value>
  void read(const Json& json, const std::string& where, Value& value) const {
    JsonFields fields(json, where, null_);
    read_fields(fields, value);
    fields.finish();
  }

  const Json* object_;
  std::string where_;
  Null null_;
  std::set<std::string> known_;
};

}  // namespace eps
