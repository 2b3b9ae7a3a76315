// Text specs, their errors, and the tasks made of them.
#include "eps/base/spec.h"

#include <gtest/gtest.h>

#include "eps/operators/task.h"
#include "tests/files.h"

namespace eps {
namespace {

std::string error_of_operator(const std::string& spec, const Shape& image = {1, 3, 8, 8}) {
  Rng rng(0, image[0]);
  return error_of([&] { make_operator(spec, at::empty(image, at::kDouble), rng); });
}

TEST(Spec, SplitsNameAndFields) {
  const Spec spec = Spec::parse("blur_motion:length=15,angle=-30.5")
                        .resolve({Field::integer("length", "", {1, 100}, ""),
                                  Field::real("angle", "0", {-360, 360}, ""),
                                  Field::integer("step", "1", {1, 100}, "")});
  EXPECT_EQ(spec.name(), "blur_motion");
  EXPECT_EQ(spec.integer("length"), 15);
  EXPECT_EQ(spec.real("angle"), -30.5);
  EXPECT_EQ(spec.integer("step"), 1);
}

TEST(Spec, ReadsRangesAndPercentages) {
  const Spec spec = Spec::parse("box:height=25%..50%,width=3,margin=6.25%");
  const Range height = spec.range("height", 0, 64, 64);
  EXPECT_EQ(height.low, 16);
  EXPECT_EQ(height.high, 32);
  EXPECT_EQ(spec.range("width", 0, 64, 64).low, 3);
  EXPECT_EQ(spec.range("margin", 0, 64, 64).low, 4);
}

const std::vector<Field> kFields = {Field::real("scale", "5", at_least(0), "step"),
                                    Field::real("std", "0.5", positive(), "deviation"),
                                    Field::real("eta", "", {0, 1}, "fresh noise"),
                                    Field::integer("steps", "20", at_least(1), "levels"),
                                    Field::flag("clip", "0", "clip to [-1, 1]"),
                                    Field::range("missing", "0.5..0.7", {0, 1}, "fraction"),
                                    Field::choice("rule", "a", {"a", "b"}, "of two"),
                                    Field::choice("solver", "euler", {"euler", "heun", "ddim"}, ""),
                                    {"file", "", "any text"}};

TEST(Spec, ResolvedValuesAreReadByTheirType) {
  const Spec spec =
      Spec::parse("thing:eta=1,clip=1,missing=0.25,solver=ddim,file=x.png").resolve(kFields);
  EXPECT_EQ(spec.real("scale"), 5);
  EXPECT_EQ(spec.real("eta"), 1);
  EXPECT_EQ(spec.integer("steps"), 20);
  EXPECT_TRUE(spec.flag("clip"));
  EXPECT_EQ(spec.range("missing").low, 0.25);
  EXPECT_EQ(spec.text("solver"), "ddim");
  EXPECT_EQ(spec.text("file"), "x.png");
  EXPECT_FALSE(Spec::parse("thing").resolve(kFields).has("eta"));
}

TEST(Spec, ResolveRefusesValuesThatTheirFieldsDoNotAllow) {
  const auto error = [](const std::string& values) {
    return error_of([&] { Spec::parse("thing:" + values).resolve(kFields); });
  };
  EXPECT_EQ(error("scale=-1"), "thing: scale=-1 is outside [0, inf)");
  EXPECT_EQ(error("scale=inf"), "thing: scale=inf is outside [0, inf)");
  EXPECT_EQ(error("scale=nan"), "thing: scale=nan is outside [0, inf)");
  EXPECT_EQ(error("scale=big"), "thing: scale=big is not a number");
  EXPECT_EQ(error("std=0"), "thing: std=0 is outside (0, inf)");
  EXPECT_EQ(error("eta=1.5"), "thing: eta=1.5 is outside [0, 1]");
  EXPECT_EQ(error("steps=0"), "thing: steps=0 is outside [1, inf)");
  EXPECT_EQ(error("steps=2.5"), "thing: steps=2.5 is not a whole number");
  EXPECT_EQ(error("clip=2"), "thing: clip=2 is outside [0, 1]");
  EXPECT_EQ(error("missing=0.5..1.5"), "thing: missing=0.5..1.5 is outside [0, 1]");
  EXPECT_EQ(error("rule=xyz"), "thing: rule=xyz is neither a nor b");
  EXPECT_EQ(error("solver=eulr"),
            "thing: solver=eulr is none of euler, heun, ddim (did you mean \"euler\"?)");
}

TEST(Spec, NumbersGivenFromCodeKeepTheirLastBit) {
  const Spec spec = Spec::parse("thing:scale=2");
  for (const double value : {0.1 + 0.2, 1.0 / 3, 0.05 / 5, 1e-300, 123456789.123456789, 4e22})
    EXPECT_EQ(spec.with("scale", value).resolve(kFields).real("scale"), value);
  EXPECT_EQ(spec.with("scale", 0.1F).real("scale"), static_cast<double>(0.1F));
  EXPECT_EQ(spec.with("scale", 3.0).text("scale"), "3");
  EXPECT_EQ(spec.with("steps", int64_t{1} << 60).integer("steps"), int64_t{1} << 60);
  EXPECT_TRUE(spec.with("clip", true).resolve(kFields).flag("clip"));
  EXPECT_EQ(spec.with("rule", "b").text("rule"), "b");
  EXPECT_EQ(spec.text("scale"), "2");
}

TEST(Field, DomainsAreTheAllowedValuesInWords) {
  const std::vector<std::string> domains = {"a number in [0, inf)",
                                            "a number in (0, inf)",
                                            "a number in [0, 1]",
                                            "a whole number in [1, inf)",
                                            "0 or 1",
                                            "a number or a..b in [0, 1]",
                                            "a or b",
                                            "euler, heun or ddim",
                                            ""};
  for (size_t i = 0; i < kFields.size(); ++i) EXPECT_EQ(kFields[i].domain(), domains[i]);
}

TEST(Spec, SuggestionsAreNear) {
  EXPECT_EQ(suggestion("esp", {"daps", "eps"}), " (did you mean \"eps\"?)");
  EXPECT_EQ(suggestion("n", {"se", "x"}), "");
}

TEST(Spec, ErrorsNameTheThingItsValueAndWhatIsWanted) {
  EXPECT_EQ(error_of_operator("inpaint_radnom"),
            "unknown operator \"inpaint_radnom\" (did you mean \"inpaint_random\"?)");
  EXPECT_EQ(
      error_of_operator("inpaint_random:mising=0.5"),
      "inpaint_random: unknown field \"mising\" (did you mean \"missing\"?); it takes missing");
  EXPECT_EQ(error_of_operator("inpaint_random:missing=1.5"),
            "inpaint_random: missing=1.5 is outside [0, 1]");
  EXPECT_EQ(error_of_operator("inpaint_random:missing=half"),
            "inpaint_random: missing=half is not a number or a range a..b");
  EXPECT_EQ(error_of_operator("inpaint_random:missing=0.7..0.5"),
            "inpaint_random: missing=0.7..0.5 runs backwards");
  EXPECT_EQ(error_of_operator("inpaint_random:0.5"),
            "spec \"inpaint_random:0.5\": \"0.5\" is not key=value");
  EXPECT_EQ(error_of_operator("super_resolution:factor=3"),
            "super_resolution: factor=3 does not divide an image of 8 x 8 pixels");
  EXPECT_EQ(error_of_operator("blur_gaussian:size=11"),
            "blur: a kernel of 11 x 11 does not fit an image of 8 x 8 pixels (width x height)");
  EXPECT_EQ(error_of_operator("hadamard", {1, 1, 8, 12}),
            "hadamard: height and width must be powers of 2, got 8 x 12");
  EXPECT_EQ(error_of_operator("inpaint_mask"), "inpaint_mask: file= is wanted");
  EXPECT_EQ(error_of_operator("grey:weights=luma", {1, 1, 8, 8}),
            "grey: weights=luma needs 3 channels, the image has 1");
}

TEST(Task, ThePapersTasksDrawOnAnyImage) {
  const std::vector<std::string> names = {"random_inpainting",
                                          "box_inpainting",
                                          "super_resolution_4x",
                                          "gaussian_deblurring",
                                          "motion_deblurring",
                                          "random_inpainting_95",
                                          "super_resolution_16x",
                                          "random_inpainting_80",
                                          "grey | super_resolution:factor=4"};
  for (const auto& name : names) {
    Rng rng(0, 2);
    const Task task = find_task(name);
    for (const auto& spec : {task.train, task.test})
      EXPECT_TRUE(make_operator(spec, at::empty({2, 3, 64, 64}), rng)) << name;
  }
  Rng rng(0);
  const Tensor mask =
      make_operator(find_task("random_inpainting_80").test, at::empty({1, 1, 256, 256}), rng)
          ->format()
          .parameters()
          .at("mask");
  EXPECT_NEAR(mask.mean().item<double>(), 0.2, 5 * std::sqrt(0.16 / 65536));
}

TEST(Task, AnOperatorSpecIsATask) {
  EXPECT_EQ(find_task("random_inpainting_30").test, "inpaint_random:missing=0.3");
  EXPECT_EQ(find_task("inpaint_random:missing=0.6").test, "inpaint_random:missing=0.6");
  EXPECT_EQ(error_of([] { find_task("gausian_deblurring"); }),
            "unknown task \"gausian_deblurring\" (did you mean \"gaussian_deblurring\"?)");
  EXPECT_EQ(error_of([] { find_task("blur_motoin:length=9"); }),
            "unknown operator \"blur_motoin\" (did you mean \"blur_motion\"?)");
}

TEST(Task, TheImageShapeFollowsFromTheMeasurement) {
  EXPECT_EQ(image_shape_of("super_resolution:factor=4", {2, 3, 4, 5}), (Shape{2, 3, 16, 20}));
  EXPECT_EQ(image_shape_of("blur_gaussian | super_resolution:factor=2 | grey", {1, 1, 4, 4}),
            (Shape{1, 3, 8, 8}));
  EXPECT_EQ(image_shape_of("fourier_lines", {1, 3, 8, 8, 2}), (Shape{1, 3, 8, 8}));
}

TEST(Task, TheStrengthsOfOperatorsAreNumbersAmongTheirFields) {
  for (const auto& [name, entry] : operators()) {
    const Spec spec = Spec::parse(name).resolve(entry.fields);
    for (const auto& strength : entry.strengths)
      EXPECT_NO_THROW(spec.range(strength, 0, 1e6, 64)) << name << ": " << strength;
  }
  EXPECT_EQ(operators().at("inpaint_random").strengths, std::vector<std::string>{"missing"});
}

TEST(Task, EveryOperatorSaysHowManyDimensionsItsMeasurementHas) {
  std::vector<std::string> specs = {"grey + identity", "blur_gaussian:size=3 | matrix:rows=5"};
  for (const auto& [name, entry] : operators())
    if (!entry.example.empty()) specs.push_back(entry.example);
  for (const auto& spec : specs) {
    Rng rng(1, 2);
    const Tensor image = at::zeros({2, channels_of(spec, 3), 8, 8}, at::kDouble);
    EXPECT_EQ(measurement_dims_of(spec), make_operator(spec, image, rng)->apply(image).dim())
        << spec;
  }
}

}  // namespace
}  // namespace eps
