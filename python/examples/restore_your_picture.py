"""Restores a photograph, and says where the restoration is sure.

Usage: restore_your_picture.py [PHOTO] [--short]. PHOTO was shaken, 15 pixels at 30 degrees; without one,
a part of a photograph that comes with eps is shaken first. Writes restored.png, and
restore_your_picture.png: the measurement, samples, their mean, deviation and 90% interval.
"""
import sys

import eps


def main(arguments: list[str]) -> None:
    short = "--short" in arguments
    files = [a for a in arguments if not a.startswith("--")]
    if files:
        # The noise is estimated; options are left to the library.
        result = eps.restore(files[0], motion=(15, 30), model="photos-eps-small")
    else:
        photo = eps.read_image(eps.find_in_models("photos-images/nyc.png")).double()
        side = 64 if short else 128
        truth = photo[:, 180 : 180 + side, 250 : 250 + side]
        # Nothing is known of what lies beyond the frame: y is smaller than the image.
        A = eps.operator("blur_motion:length=11,angle=30,border=valid", truth.shape)
        y = A.observe(truth, noise=2 * eps.GREY_LEVEL, seed=0)
        # y is a tensor here; NumPy arrays and pictures of Pillow are taken as well.
        result = eps.restore(
            y, motion=(11, 30), samples=2 if short else 4, steps=3 if short else 10
        )
    print(result)
    print(f"noise {result.noise / eps.GREY_LEVEL:.1f} grey levels, chi2 {result.chi2:.2f}")
    result.write("restored.png")  # with the bits, colour profile and EXIF record of PHOTO
    eps.write_image("restore_your_picture.png", result.sheet())


if __name__ == "__main__":
    main(sys.argv[1:])
