// JSON from outside: what is refused, with which words, and what is written whatever it holds.
#include "eps/base/json.h"

#include <nlohmann/json.hpp>

#include "eps/base/json_fields.h"
#include "tests/files.h"

namespace eps {
namespace {

std::string refusal(const std::string& text, const JsonLimits& limits = {}) {
  return error_of([&] { parse_json(text, "a.json", limits); });
}

TEST(Json, SaysWhereTheTextIsWrong) {
  EXPECT_EQ(refusal("{\"a\":\n 1,}").find("a.json: no JSON: line 2, column 4: "), 0u);
  EXPECT_EQ(refusal("").find("a.json: no JSON: line 1, column 1: "), 0u);
  EXPECT_EQ(refusal("[1] x").find("a.json: no JSON: line 1, column 5: "), 0u);
  EXPECT_EQ(refusal("[1e400]").find("a.json: no JSON: number overflow"), 0u);
  EXPECT_EQ(refusal("\"\xff\"").find('\xff'), std::string::npos);
  EXPECT_LT(refusal("\"" + std::string(1 << 20, 'a')).size(), 300u);
}

TEST(Json, RefusesWhatNestsTooDeepBeforeItTakesMemory) {
  const std::string open(100000, '['), close(100000, ']');
  EXPECT_EQ(refusal(open + close), "a.json: nests deeper than 64 levels");
  EXPECT_EQ(refusal(std::string(50 << 20, '[')), "a.json: nests deeper than 64 levels");
  EXPECT_EQ(refusal("[[1]]", {.depth = 1}), "a.json: nests deeper than 1 levels");
  EXPECT_EQ(parse_json("[[1]]", "a.json", {.depth = 2}), Json::parse("[[1]]"));
  EXPECT_NO_THROW(parse_json(open.substr(0, 64) + close.substr(0, 64), "a.json"));
}

TEST(Json, RefusesFieldsThatAppearTwice) {
  EXPECT_EQ(refusal(R"({"a": 1, "b": {"c": 1, "c\n": 2, "c": 3}})"), "a.json: 'c' appears twice");
  EXPECT_NO_THROW(parse_json(R"([{"a": 1}, {"a": {"a": 1}}])", "a.json"));
  EXPECT_EQ(refusal(R"({"a": 1, "b": 2})", {.fields = 1}),
            "a.json: an object has more than 1 fields");
}

TEST(Json, IsWrittenWhateverANameHolds) {
  EXPECT_EQ(json_text({{"name", "im\xff.npy"}}), "{\"name\":\"im\xef\xbf\xbd.npy\"}");
  EXPECT_EQ(json_text({{"a", 1}, {"A", std::nan("")}}), R"({"a":1,"A":null})");
}

struct Point {
  double x = 0;
};
void read_fields(JsonFields& fields, Point& point) { fields.required("x", point.x); }

template <class Value>
Value read(const std::string& text, JsonFields::Null null = JsonFields::Null::refused) {
  const Json json = parse_json("{\"v\": " + text + "}", "a.json");
  JsonFields fields(json, "a.json", null);
  return fields.get<Value>("v");
}

template <class Value>
std::string misfit(const std::string& text) {
  return error_of([&] { read<Value>(text); });
}

TEST(JsonFields, ReadWhatFits) {
  EXPECT_EQ(read<std::string>("\"x\""), "x");
  EXPECT_EQ(read<bool>("true"), true);
  EXPECT_EQ(read<int64_t>("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(read<int64_t>("1e6"), 1000000);
  EXPECT_EQ(read<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_EQ(read<double>("3"), 3);
  EXPECT_TRUE(std::isnan(read<double>("null", JsonFields::Null::is_nan)));
  EXPECT_EQ(read<std::vector<int64_t>>("[1, 2]"), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ((read<std::map<std::string, Point>>(R"({"a": {"x": 2}})").at("a").x), 2);
}

TEST(JsonFields, NameTheFieldItsValueAndWhatFits) {
  EXPECT_EQ(misfit<std::string>("1"), "a.json: v must be text, got 1");
  EXPECT_EQ(misfit<bool>("1"), "a.json: v must be true or false, got 1");
  EXPECT_EQ(misfit<int64_t>("8.7"), "a.json: v must be a whole number, got 8.7");
  EXPECT_EQ(misfit<int64_t>("true"), "a.json: v must be a whole number, got true");
  EXPECT_EQ(misfit<int64_t>("9223372036854775808"),
            "a.json: v must be a whole number, got 9223372036854775808");
  EXPECT_EQ(misfit<uint64_t>("-1"), "a.json: v must be a whole number of at least 0, got -1");
  EXPECT_EQ(misfit<double>("null"), "a.json: v must be a number, got null");
  EXPECT_EQ(misfit<double>("true"), "a.json: v must be a number, got true");
  EXPECT_EQ(misfit<std::vector<double>>("[1, \"\"]"), "a.json: v[1] must be a number, got \"\"");
  EXPECT_EQ(misfit<std::vector<double>>("{}"), "a.json: v must be a list, got {}");
  EXPECT_EQ((misfit<std::map<std::string, Point>>(R"({"a": {}})")), "a.json: v: a: x is missing");
  EXPECT_EQ(misfit<Point>(R"({"x": 1, "other": 1})"), "a.json: v: unknown field \"other\"");
}

TEST(JsonFields, KnowWhichFieldsNobodyRead) {
  const Json json = parse_json(R"({"a": 1, "bach": 2, "l\n": [{"c": 1}]})", "a.json");
  JsonFields fields(json, "a.json");
  int64_t a = 0, batch = 7;
  fields.required("a", a);
  fields.optional("batch", batch);
  EXPECT_EQ(batch, 7);
  EXPECT_EQ(error_of([&] { fields.finish(); }),
            "a.json: unknown field \"bach\" (did you mean \"batch\"?)");
  fields.optional("bach", a);
  EXPECT_EQ(error_of([&] { fields.finish(" here"); }), "a.json: unknown field \"l\\x0a\" here");
  EXPECT_EQ(error_of([&] { fields.list("l\n").at(0).get<bool>("c"); }),
            "a.json: l\n[0]: c must be true or false, got 1");
  EXPECT_EQ(error_of([&] { fields.object("a"); }), "a.json: a must be a JSON object, got 1");
  EXPECT_TRUE(fields.list("none").empty());
}

TEST(JsonFields, KeepMessagesShortAndOnOneLine) {
  EXPECT_LT(misfit<bool>("\"" + std::string(1 << 20, 'a') + "\"").size(), 200u);
  EXPECT_EQ(misfit<bool>("\"\\u001b[31m\\n\""),
            "a.json: v must be true or false, got \"\\x5cu001b[31m\\x5cn\"");
}

}  // namespace
}  // namespace eps
