// Pickles: what each instruction means, and that nothing is ever run, leaked or overflowed.
#include "eps/io/torch/pickle.h"

#include <gtest/gtest.h>

#include "eps/io/torch/pickle_json.h"
#include "eps/io/torch/pickle_view.h"
#include "tests/files.h"
#include "tests/io/torch/pickle_bytes.h"

namespace eps {
namespace {

using namespace std::literals;
using nlohmann::json;

// The pickle as JSON, for values that are plain data.
json as_json(const std::string& bytes) {
  const Pickle pickle = parse_pickle(bytes, "a.pkl");
  EXPECT_EQ(pickle.size, bytes.size());
  const auto converted = PickleJson().convert(pickle.root);
  EXPECT_TRUE(converted.has_value());
  return converted.value_or(json("not plain data"));
}

std::string pickle_error(const std::string& bytes) {
  return error_of([&bytes] { parse_pickle(bytes, "a.pkl"); });
}

TEST(Pickle, ReadsWhatPythonWritesInEveryProtocol) {
  // {'a': [1, -2, 70000, 2.5, True, None], 'b': ('x', 'caf\u00e9')} as pickletools shows it.
  const json expected = {{"a", {1, -2, 70000, 2.5, true, nullptr}}, {"b", {"x", "caf\u00e9"}}};
  const std::string protocol0 =
      "(dp0\nVa\np1\n(lp2\nI1\naI-2\naI70000\naF2.5\naI01\naNasVb\np3\n("
      "Vx\np4\nVcaf\xe9\np5\ntp6\ns.";
  const std::string protocol1 =
      "}q\0(X\1\0\0\0aq\1]q\2(K\1J\xfe\xff\xff\xffJp\x11\1\0G@\4\0\0\0\0\0\0I01\nNeX\1\0\0\0bq\3("
      "X\1\0\0\0xq\4X\5\0\0\0caf\xc3\xa9q\5tq\6u."s;
  const std::string protocol2 =
      "\x80\2}q\0(X\1\0\0\0aq\1]q\2(K\1J\xfe\xff\xff\xffJp\x11\1\0G@\4\0\0\0\0\0\0\x88NeX\1\0\0\0b"
      "q\3X\1\0\0\0xq\4X\5\0\0\0caf\xc3\xa9q\5\x86q\6u."s;
  const std::string protocol4 =
      "\x80\4\x95\x36\0\0\0\0\0\0\0}\x94(\x8c\1a\x94]\x94(K\1J\xfe\xff\xff\xffJp\x11\1\0G@"
      "\4\0\0\0\0"
      "\0\0\x88Ne\x8c\1b\x94\x8c\1x\x94\x8c\5caf\xc3\xa9\x94\x86\x94u."s;
  for (const std::string& bytes : {protocol0, protocol1, protocol2, protocol4}) {
    EXPECT_EQ(as_json(bytes), expected);
  }
}

TEST(Pickle, ReadsNumbersOfEveryKind) {
  EXPECT_EQ(as_json("I-9223372036854775808\n."), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(as_json("L9223372036854775807L\n."), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(as_json("I00\n."), false);
  EXPECT_EQ(as_json("I0\n."), 0);
  EXPECT_EQ(as_json("M\x34\x12."), 0x1234);
  EXPECT_EQ(as_json("\x8a\0."s), 0);
  EXPECT_EQ(as_json("\x8a\1\xff."), -1);
  EXPECT_EQ(as_json("\x8a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff."), -1);
  EXPECT_EQ(as_json("\x8b\2\0\0\0\0\1."s), 256);
  EXPECT_EQ(as_json("F-1.25e-3\n."), -1.25e-3);
}

TEST(Pickle, KeepsBigIntegersAsBytes) {
  const std::string magic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
  for (const std::string& bytes : {"\x8a\x0a" + magic + ".", "L119547037146038801333356L\n."s}) {
    const Pickle pickle = parse_pickle(bytes, "a.pkl");
    ASSERT_NE(pickle.root->as<PickleBigInteger>(), nullptr);
    EXPECT_EQ(pickle.root->as<PickleBigInteger>()->bytes, magic);
  }
  // -2^63 - 1 and 2^63: the first beyond 64 bits.
  const std::string below = "\xff\xff\xff\xff\xff\xff\xff\x7f\xff";
  const std::string above = "\0\0\0\0\0\0\0\x80\0"s;
  const Pickle first_below = parse_pickle("I-9223372036854775809\n.", "a.pkl");
  const Pickle first_above = parse_pickle("I9223372036854775808\n.", "a.pkl");
  EXPECT_EQ(first_below.root->as<PickleBigInteger>()->bytes, below);
  EXPECT_EQ(first_above.root->as<PickleBigInteger>()->bytes, above);
}

TEST(Pickle, ReadsTextAndBytesOfEveryKind) {
  EXPECT_EQ(as_json(R"(S'it\'s \x41\n\\ \q'
.)"),
            "it's A\n\\ \\q");
  EXPECT_EQ(as_json("S\"\"\n."), "");
  EXPECT_EQ(as_json("V\\u20ac \\U0001f600\n."), "\u20ac \U0001f600");
  EXPECT_EQ(as_json("T\2\0\0\0ab."s), "ab");
  EXPECT_EQ(as_json("U\2ab."), "ab");
  EXPECT_EQ(as_json("\x8d\2\0\0\0\0\0\0\0ab."s), "ab");
  for (const std::string& bytes : {"B\2\0\0\0a\xff."s,
                                   "C\2a\xff."s,
                                   "\x8e\2\0\0\0\0\0\0\0a\xff."s,
                                   "\x96\2\0\0\0\0\0\0\0a\xff."s}) {
    const Pickle pickle = parse_pickle(bytes, "a.pkl");
    EXPECT_EQ(pickle.root->as<PickleBytes>()->bytes, "a\xff");
  }
}

TEST(Pickle, ReadsContainersOfEveryKind) {
  EXPECT_EQ(as_json("(K\1K\2l."), json({1, 2}));
  EXPECT_EQ(as_json("](K\1K\2e."), json({1, 2}));
  EXPECT_EQ(as_json(")."), json::array());
  EXPECT_EQ(as_json("K\1\x85."), json({1}));
  EXPECT_EQ(as_json("K\1K\2\x86."), json({1, 2}));
  EXPECT_EQ(as_json("K\1K\2K\3\x87."), json({1, 2, 3}));
  EXPECT_EQ(as_json("(U\1aK\1d."), json({{"a", 1}}));
  EXPECT_EQ(as_json("}U\1aK\1s."), json({{"a", 1}}));
  EXPECT_EQ(as_json("\x8f(K\1K\2\x90."), json({1, 2}));
  EXPECT_EQ(as_json("(K\1K\2\x91."), json({1, 2}));
  EXPECT_EQ(as_json("K\1\x32\x86."), json({1, 1}));  // DUP
  EXPECT_EQ(as_json("K\1K\2\x30."), 1);              // POP
  EXPECT_EQ(as_json("K\1(\x30."), 1);                // POP of a mark
  EXPECT_EQ(as_json("K\1(K\2K\3\x31."), 1);          // POP_MARK
  EXPECT_EQ(as_json("]r\0\1\0\0K\1aj\0\1\0\0\x86."s), json({{1}, {1}}));
  EXPECT_EQ(as_json("(lp7\ng7\nI3\na\x86."), json({{3}, {3}}));
}

TEST(Pickle, RecordsCallsWithoutMakingThem) {
  const Pickle pickle = parse_pickle(
      "\x80\2ccollections\nOrderedDict\nq\0)Rq\1(U\1aK\1U\1bK\2u}U\x09_metadataNsb."sv, "a.pkl");
  const auto* object = pickle.root->as<PickleObject>();
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(dotted(*callable_of(pickle.root)), "'collections.OrderedDict'");
  EXPECT_TRUE(object->args->as<PickleTuple>()->items.empty());
  EXPECT_EQ(entries_of(pickle.root)->size(), 2u);
  EXPECT_EQ(*find(pickle.root, "b")->as<int64_t>(), 2);
  EXPECT_NE(find(object->state, "_metadata"), nullptr);
}

TEST(Pickle, RecordsObjectsOfEveryProtocol) {
  for (const std::string& bytes : {"(I5\nimod\nName\n."s,                       // INST
                                   "(cmod\nName\nK\5o."s,                       // OBJ
                                   "cmod\nName\nK\5\x85R."s,                    // REDUCE
                                   "cmod\nName\nK\5\x85\x81."s,                 // NEWOBJ
                                   "\x8c\3mod\x8c\4Name\x93K\5\x85}\x92."s}) {  // NEWOBJ_EX
    const Pickle pickle = parse_pickle(bytes, "a.pkl");
    EXPECT_EQ(dotted(*callable_of(pickle.root)), "'mod.Name'");
    EXPECT_EQ(*argument_of(pickle.root, 0)->as<int64_t>(), 5);
    EXPECT_EQ(argument_of(pickle.root, 1), nullptr);
  }
}

TEST(Pickle, RecordsPersistentIds) {
  const Pickle text = parse_pickle("Pkey\n.", "a.pkl");
  EXPECT_EQ(*text_of(text.root->as<PicklePersistent>()->id), "key");
  const Pickle binary = parse_pickle("K\7Q.", "a.pkl");
  EXPECT_EQ(*binary.root->as<PicklePersistent>()->id->as<int64_t>(), 7);
}

TEST(Pickle, ReadsSetsAndDictsAsOlderProtocolsWriteThem) {
  EXPECT_EQ(as_json("c__builtin__\nset\n((K\1K\2ltR."), json({1, 2}));
  EXPECT_EQ(as_json("ccollections\nOrderedDict\n((lp0\n(lp1\nS'a'\naK\1aatR."), json({{"a", 1}}));
}

TEST(Pickle, StopsAtTheEndOfThePickle) {
  const Pickle pickle = parse_pickle("K\1.K\2.", "a.pkl");
  EXPECT_EQ(pickle.size, 3u);
  EXPECT_EQ(*pickle.root->as<int64_t>(), 1);
}

// Each would run a command or take over the interpreter in Python.
TEST(Pickle, KeepsHostileCallsAsRecords) {
  const Folder folder;
  const std::string canary = folder.file("canary");
  const std::string command = "touch " + canary;
  using namespace pickled;
  const std::vector<std::string> hostile = {
      whole(call(global("os", "system"), {text(command)})),
      whole(call(global("posix", "system"), {text(command)})),
      whole(call(global("builtins", "eval"), {text("__import__('os').system('" + command + "')")})),
      whole(call(global("builtins", "exec"), {text("open('" + canary + "', 'w')")})),
      whole(call(global("subprocess", "Popen"), {list({text("touch"), text(canary)})})),
      whole(call(call(global("operator", "attrgetter"), {text("system")}), {text(command)})),
      "cos\nsystem\n(S'" + command + "'\ntR.",
      "(S'" + command + "'\nios\nsystem\n.",
  };
  for (const std::string& bytes : hostile) {
    const Pickle pickle = parse_pickle(bytes, "a.pkl");
    EXPECT_NE(pickle.root->as<PickleObject>(), nullptr);
    EXPECT_NE(argument_of(pickle.root, 0), nullptr);
  }
  EXPECT_TRUE(folder.names().empty());
}

TEST(Pickle, SurvivesStructuresThatContainThemselves) {
  const Pickle list = parse_pickle("]q\0h\0a."sv, "a.pkl");
  EXPECT_EQ(list.root->as<PickleList>()->items[0], list.root);
  EXPECT_FALSE(PickleJson().convert(list.root).has_value());
  EXPECT_EQ(as_json("}q\0(U\4selfh\0U\1xK\1u."s), json({{"x", 1}}));
}

TEST(Pickle, DoesNotMultiplySharedStructures) {
  // Thirty lists, each of ten references to the one before: 10^30 items if copied.
  std::string bytes = "]q\0"s;
  for (char level = 1; level <= 30; ++level) {
    bytes += "](";
    for (int i = 0; i < 10; ++i) bytes += "h"s + static_cast<char>(level - 1);
    bytes += "eq"s + level;
  }
  bytes += ".";
  const Pickle pickle = parse_pickle(bytes, "a.pkl");
  EXPECT_LT(pickle.values.size(), 40u);
  EXPECT_FALSE(PickleJson().convert(pickle.root).has_value());
}

TEST(Pickle, JsonLeavesOutOnlyTheEntryThatIsTooLarge) {
  std::string numbers;
  for (int i = 0; i < 100000; ++i) numbers += "K\1";
  EXPECT_EQ(as_json("}(U\4many](" + numbers + "eU\5epochK\3u."), json({{"epoch", 3}}));
}

TEST(Pickle, SurvivesDeepNesting) {
  const size_t depth = 500000;
  std::string bytes(depth, ']');
  bytes += std::string(depth - 1, 'a') + ".";
  const Pickle pickle = parse_pickle(bytes, "a.pkl");
  EXPECT_FALSE(PickleJson().convert(pickle.root).has_value());
  EXPECT_EQ(as_json("]]]aa."), json::array({json::array({json::array()})}));
}

TEST(Pickle, RefusesLengthsBeyondTheInput) {
  for (const std::string& bytes : {"X\xff\xff\xff\xff."s,
                                   "B\xff\xff\xff\x7f."s,
                                   "T\xff\xff\xff\xff."s,
                                   "\x8b\xff\xff\xff\xff."s,
                                   "\x8d\xff\xff\xff\xff\xff\xff\xff\xff."s,
                                   "\x8e\xff\xff\xff\xff\xff\xff\xff\x7f."s,
                                   "\x96\0\0\0\0\0\1\0\0."s,
                                   "\x95\xff\xff\xff\xff\xff\xff\xff\xff."s}) {
    EXPECT_NE(pickle_error(bytes).find("a.pkl: "), std::string::npos);
  }
  EXPECT_EQ(pickle_error("X\xff\xff\xff\xff."),
            "a.pkl: needs 4294967295 bytes at byte 5 but has 1");
  EXPECT_NE(pickle_error("I" + std::string(2000, '9') + "\n.").find("an integer of 2000 digits"),
            std::string::npos);
}

TEST(Pickle, RefusesMoreValuesThanItsLimit) {
  EXPECT_NE(pickle_error(std::string(kMaxPickleValues, ']')).find("more than 4194304 values"),
            std::string::npos);
  EXPECT_NE(pickle_error(std::string(kMaxPickleStack + 1, 'N')).find("values on the stack"),
            std::string::npos);
  EXPECT_NE(pickle_error(std::string(kMaxPickleStack + 1, '(')).find("marks"), std::string::npos);
  EXPECT_NE(pickle_error("N" + std::string(kMaxPickleMemo + 1, '\x94')).find("memo entries"),
            std::string::npos);
}

TEST(Pickle, RefusesWhatIsNotWellFormed) {
  for (const std::string& bytes : {"."s,  // nothing to return
                                   "0."s,
                                   "K\1a."s,     // APPEND to nothing
                                   "K\1K\2a."s,  // APPEND to an integer
                                   "K\1(K\2e."s,
                                   "](K\1u."s,  // a key without a value
                                   "}(K\1u."s,
                                   "t."s,      // no mark
                                   "K\1(a."s,  // APPEND across a mark
                                   "h\0."s,    // no such memo entry
                                   "gx\n."s,
                                   "pN\n."s,
                                   "K\1K\2R."s,        // arguments that are no tuple
                                   "K\1}b."s,          // BUILD of an integer
                                   "cm\nn\n)R}b}b."s,  // BUILD twice
                                   "K\1K\2\x93."s,     // a global that is no name
                                   "(o."s,
                                   "\x80\6."s,  // protocol 6
                                   "\x82\1."s,  // extension registry
                                   "\x97."s,    // out-of-band buffer
                                   "\xff."s,
                                   "Fabc\n."s,
                                   "I1x\n."s,
                                   "I\n."s,
                                   "S'a\n."s}) {
    EXPECT_THROW(parse_pickle(bytes, "a.pkl"), Error) << bytes;
  }
}

TEST(Pickle, RefusesAPickleCutAnywhere) {
  using namespace pickled;
  const std::string bytes = whole(
      dict({{"a", list({integer(1), number(2.5), text("x"), pickled::bytes("yy")})},
            {"b", instance(global("m", "C"), dict({{"k", none()}}))},
            {"c", ordered_dict({{"t", parameter(tensor(inner_storage({1, 2}), 0, {2}, {1}))}})}}));
  EXPECT_EQ(parse_pickle(bytes, "a.pkl").size, bytes.size());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(parse_pickle(std::string_view(bytes).substr(0, size), "a.pkl"), Error) << size;
  }
}

}  // namespace
}  // namespace eps
