// The sheet of `eps gallery`.
#include <gtest/gtest.h>

#include "eps/io/images/image.h"
#include "tests/program.h"

namespace eps {
namespace {

const std::string kFace = EPS_SOURCE_DIR "/models/faces64-images/06.png";

TEST(Gallery, ShowsTheImageAndWhatOperatorsMake) {
  const Folder folder;
  const std::string sheet = folder.file("sheet.png");
  const Outcome outcome = run_program(EPS_PROGRAM,
                                      "gallery " + kFace + " " + sheet +
                                          " identity bayer sense 'grey | radon:angles=3' --columns "
                                          "3 --magnify 1 --sigma-y 0 --threads 1");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  const Tensor drawn = read_image(sheet), image = read_image(kFace);
  // Two rows of cells of 64 pixels and their labels.
  EXPECT_GT(drawn.size(1), 2 * 64);
  EXPECT_GT(drawn.size(2), 3 * 64);
  // Without noise the identity shows the image: it is there twice, side by side.
  int found = 0;
  for (int64_t top = 0; top + 64 <= drawn.size(1) / 2 + 32; ++top)
    for (int64_t left = 0; left + 64 <= drawn.size(2); ++left)
      if (drawn.narrow(1, top, 64).narrow(2, left, 64).equal(image)) ++found;
  EXPECT_EQ(found, 2);
}

TEST(Gallery, RefusesUnknownOperatorsBeforeTheWork) {
  const Folder folder;
  const Outcome outcome =
      run_program(EPS_PROGRAM, "gallery " + kFace + " " + folder.file("sheet.png") + " bayr");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find("did you mean \"bayer\""), std::string::npos) << outcome.output;
}

TEST(Gallery, RefusesNoiseThatIsNone) {
  const Folder folder;
  for (const std::string wrong : {"nan", "-1", "inf"}) {
    const Outcome outcome = run_program(
        EPS_PROGRAM, "gallery " + kFace + " " + folder.file("sheet.png") + " --sigma-y " + wrong);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.output,
              "eps: --sigma-y " + wrong + ": a number >= 0 is wanted, in units of [-1, 1]\n");
  }
}

}  // namespace
}  // namespace eps
