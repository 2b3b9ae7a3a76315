"""Restores a photograph, and says where the restoration is sure.

Usage: restore_your_picture.py [PHOTO] [--short]. Without a photograph, one that comes with eps is
degraded first. Writes restored.png, and uncertainty.png, in which white is uncertain.
"""
import sys

import eps


def main(arguments: list[str]) -> None:
    short = "--short" in arguments
    files = [a for a in arguments if not a.startswith("--")]
    network = eps.load("faces64-eps" if short else "photos-eps-small")
    if files:
        # Shaken: 15 pixels at 30 degrees. The noise is estimated.
        result = eps.restore(files[0], motion="15,30", model=network)
    else:
        folder = eps.find_in_models("faces64-images" if short else "photos-images")
        result = eps.restore(
            f"{folder}/07.png" if short else f"{folder}/nyc.png",
            motion="11,30",
            simulate=True,
            samples=2 if short else 4,
            steps=3 if short else 10,
            model=network,
        )
    print(result)
    result.write("restored.png")
    assert result.deviation is not None
    spread = result.deviation.mean(0, keepdim=True)
    eps.write_image("uncertainty.png", 2 * spread / spread.max() - 1)
    print(f"noise {result.noise / eps.GREY_LEVEL:.1f} grey levels, chi2 {result.chi2:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
