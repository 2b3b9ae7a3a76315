#!/usr/bin/env python3
"""Tests of the page in a real browser: from dropping a picture to the download."""
import io
import json
import pathlib
import sys
import tempfile
import time
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from browser import Browser, found  # noqa: E402
from served import Served, grey_levels  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FACE = ROOT / "models/faces64-images/01.png"
PROGRAM = None


def setUpModule():
    global served, browser
    served = Served(PROGRAM)
    browser = Browser()
    browser.open(served.address)


def tearDownModule():
    browser.close()
    served.close()


def visible(name):
    return f"document.getElementById('{name}').offsetParent"


def value(name, number):
    browser.run("const e = document.getElementById(arguments[0]); e.value = arguments[1];"
                "for (const n of ['input', 'change']) e.dispatchEvent(new Event(n, {bubbles: true}))", name, number)


def choose(name, of):
    browser.click(f'label:has([name="{name}"][value="{of}"])')


def begin(width=1280, height=900):
    """The page as it is after its address was opened, with one face dropped on it."""
    browser.size(width, height)
    browser.open("about:blank")
    browser.open(served.address)
    browser.wait("document.querySelector('#demos img')")
    browser.drop(FACE, width // 2, height // 2)
    browser.wait(visible("describe"))


def settings(samples, steps):
    """Few evaluations of the small network for faces."""
    browser.run("document.getElementById('settings').open = true")
    for name, number in (("model", "faces64-eps"), ("samples", samples), ("steps", steps)):
        value(name, number)


def start():
    """Starts the restoration, and returns its number."""
    browser.click("#restore")
    return browser.wait("location.hash.startsWith('#job=') && location.hash.slice(5)")


def start_long():
    choose("damage", "denoise")
    settings(8, 200)
    number = start()
    browser.wait("document.getElementById('progress').value > 0", 30, "the first evaluation")
    return number


class Place:
    """Where pixels of the picture of 64 x 64 lie in the window, when all of it is shown."""

    def __init__(self, canvas):
        box = browser.run("const b = document.getElementById(arguments[0]).getBoundingClientRect();"
                          "return [b.left, b.top, b.width, b.height]", canvas)
        self.scale = min((box[2] - 32) / 64, (box[3] - 32) / 64, 64)
        self.left = box[0] + box[2] / 2 - 32 * self.scale
        self.top = box[1] + box[3] / 2 - 32 * self.scale

    def of(self, x, y):
        return self.left + (x + 0.5) * self.scale, self.top + (y + 0.5) * self.scale


class Paths(unittest.TestCase):
    def tearDown(self):
        browser.listen()
        complaints, browser.complaints = browser.complaints, []
        browser.open("about:blank")
        for job in served.json("restorations"):
            served.delete(f"restorations/{job['id']}")
        self.assertEqual(complaints, [])
        foreign = {host for host in browser.hosts if host.startswith(("http", "ws")) and host != served.base}
        self.assertEqual(foreign, set())

    def test_from_the_drop_to_the_download_with_the_mask_as_it_was_painted(self):
        begin()
        choose("damage", "mask")
        place, wrong = Place("edit"), set()
        value("brush", 5)
        browser.drag([place.of(x, 20) for x in (10, 22, 30)])
        wrong |= {(x, y) for x in range(64) for y in range(64)
                  if (x - min(max(x, 10), 30)) ** 2 + (y - 20) ** 2 <= 2.5 ** 2}
        choose("tool", "rectangle")
        browser.drag([place.of(40, 40), place.of(50, 45), place.of(55, 51)])
        wrong |= {(x, y) for x in range(40, 56) for y in range(40, 52)}
        choose("tool", "eraser")
        value("brush", 1)
        browser.drag([place.of(45, 44), place.of(50, 44)])
        wrong -= {(x, 44) for x in range(45, 51)}
        choose("tool", "brush")
        browser.drag([place.of(3, 60), place.of(9, 60)])
        browser.drag([place.of(3, 5), place.of(9, 5)])
        wrong |= {(x, 60) for x in range(3, 10)}
        for name in ("undo", "undo", "redo"):
            browser.click(f"#{name}")
        settings(2, 4)
        number = start()
        browser.wait(visible("result-part"), 60, "the result")
        rows = grey_levels(served.get(f"/v1/restorations/{number}/files/mask.png"))
        self.assertEqual({(x, y) for y in range(64) for x in range(64) if rows[y][x] == 0}, wrong)
        self.assertEqual({level for row in rows for level in row}, {0, 255})
        self.check_result(number)

    def check_result(self, number):
        words = browser.run("return document.getElementById('verdict').textContent")
        self.assertGreater(len(words), 10)
        shown = browser.run("return [...document.querySelectorAll('#strip span')].map((e) => e.textContent)")
        self.assertEqual(shown, ["Best guess", "Sample 1", "Sample 2", "Dark end", "Bright end"])
        browser.hover(*Place("view").of(12, 30))
        browser.wait("document.getElementById('pixel-words').textContent.startsWith('At 12, 30')")
        self.assertEqual(browser.run("return document.querySelectorAll('#pixel-plots svg').length"), 3)
        command = browser.run("return document.getElementById('command').textContent")
        self.assertIn("eps restore", command)
        self.assertIn("--mask", command)
        browser.click("#zip")
        folder, end = pathlib.Path(browser.folder.name), time.monotonic() + 10
        while not (zips := list(folder.glob("*.zip"))) and time.monotonic() < end:
            time.sleep(0.05)
        names = zipfile.ZipFile(io.BytesIO(zips[0].read_bytes())).namelist()
        for name in ("mean.png", "sample-2.png", "restore.json"):
            self.assertTrue(any(one.endswith(name) for one in names), f"{name} in {names}")

    def test_cancelling_frees_the_worker_for_the_next(self):
        begin()
        number = start_long()
        browser.click("#cancel")
        browser.wait("document.getElementById('job-state').textContent == 'cancelled'", 10)
        self.assertEqual(served.json(f"restorations/{number}")["state"], "cancelled")
        browser.run("location.hash = 'new'")
        browser.wait(visible("describe"))
        settings(2, 2)
        start()
        browser.wait(visible("result-part"), 30, "the result of the next")

    def test_a_reload_in_the_middle_keeps_it(self):
        begin()
        start_long()
        before = browser.run("return document.getElementById('progress').value")
        browser.run("location.reload()")
        browser.wait(visible("progress-part"))
        browser.wait(f"document.getElementById('progress').value > {before}", 20, "further progress")
        self.assertEqual(browser.run("return document.getElementById('job-name').textContent"), FACE.name)

    def test_two_tabs_agree(self):
        begin()
        number = start_long()
        first, second = browser.tab(served.address)
        try:
            browser.wait(f"document.querySelector('#jobs a[href=\"#job={number}\"] .running')")
            browser.click("#jobs button")
        finally:
            browser.call("DELETE", "/window")
            browser.switch(first)
        browser.wait("document.getElementById('job-state').textContent == 'cancelled'", 10)
        browser.wait("document.querySelector('#jobs .cancelled')")

    def test_several_wait_in_a_queue_that_is_seen(self):
        begin()
        start_long()
        for _ in range(2):
            browser.run("location.hash = 'new'")
            browser.wait(visible("describe"))
            start()
        browser.wait("document.querySelectorAll('#jobs .queued').length == 2")
        browser.click("#jobs button")
        browser.wait("document.querySelectorAll('#jobs .queued').length == 1")

    def test_dark_and_light_follow_the_system_or_the_switch(self):
        begin()
        ground = "return getComputedStyle(document.body).backgroundColor"
        light = browser.run(ground)
        try:
            browser.emulate("prefers-color-scheme", "dark")
            dark = browser.run(ground)
            self.assertNotEqual(light, dark)
            for theme, expected in (("dark", dark), ("light", light), ("system", dark)):
                browser.click("#theme")
                self.assertEqual(browser.run("return document.getElementById('theme').textContent"), f"Theme: {theme}")
                self.assertEqual(browser.run(ground), expected)
        finally:
            browser.emulate("prefers-color-scheme", "light")

    def test_the_keyboard_alone_is_enough(self):
        browser.open("about:blank")
        browser.open(served.address)
        browser.wait("document.querySelector('#demos .small img')")

        def go(selector, most=60):
            for _ in range(most):
                if browser.run("return document.activeElement.matches(arguments[0])", selector):
                    return
                browser.press("tab")
            self.fail(f"no tab leads to {selector}")
        go("#demos .small button")
        browser.press("enter")
        browser.wait(visible("describe"))
        go("[name=damage]")
        browser.press("space")  # the first: scratches
        browser.wait("document.querySelector('[data-damage=mask]').offsetParent")
        browser.press(("shift", "tab"))
        for _ in range(6):
            if browser.run("return document.activeElement.id") == "edit":
                break
            browser.press(("shift", "tab"))
        browser.press("left", "space", "right", "right", ("shift", "down"), "space")
        browser.wait("document.getElementById('mask-share').textContent.includes('painted.')")
        self.assertFalse(browser.run("return document.getElementById('undo').disabled"))
        settings(2, 2)
        browser.run("document.getElementById('seed').focus()")
        go("#restore")
        browser.press("enter")
        browser.wait(visible("result-part"), 30, "the result")
        go("#divider")
        browser.press("right", "right")
        self.assertEqual(float(browser.run("return document.getElementById('divider').value")), 51)
        go("[name=shown]")
        browser.press("right")
        self.assertEqual(browser.run("return document.querySelector('[name=shown]:checked').value"), "sample-1")
        browser.run("document.getElementById('view').focus()")
        browser.press("right")
        browser.wait("document.getElementById('pixel-words').textContent.startsWith('At ')")
        go("#zip")

    def test_four_hundred_pixels_are_wide_enough(self):
        begin(400, 800)
        fits = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        for damage in ("mask", "motion", "defocus", "downscale", "denoise", "gaussian"):
            choose("damage", damage)
            self.assertTrue(browser.run(fits), damage)
        settings(2, 2)
        start()
        browser.wait(visible("result-part"), 30, "the result")
        for arrange in ("beside", "all", "divider"):
            choose("arrange", arrange)
            self.assertTrue(browser.run(fits), arrange)
        for page in ("exactness", "networks"):
            browser.run("location.hash = arguments[0]", page)
            browser.wait(visible(page))
            self.assertTrue(browser.run(fits), page)
        browser.wait("document.querySelectorAll('#network-list article').length > 0")

    def test_exactness_draws_methods_beside_the_truth(self):
        browser.size(1280, 900)
        browser.open(served.address + "#exactness")
        browser.wait("document.querySelectorAll('#exact-plots canvas').length >= 3", 30)
        words = "return document.querySelectorAll('#exact-plots figcaption')[1].textContent"
        said = browser.run(words)
        self.assertTrue(said.startswith("EPS"), said)
        value("exact-y", 1)
        browser.wait(f"(() => {{ {words} }})() != {json.dumps(said)}", 30, "another answer")

    def test_a_picture_that_is_none_is_refused_in_words(self):
        begin()
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            file.write(b"no picture")
            file.flush()
            browser.run("document.getElementById('another').click()")
            browser.drop(file.name, 600, 500)
            browser.wait("document.getElementById('problem').textContent.includes('no picture that can be read')")

    def test_the_page_is_small_and_seen_at_once(self):
        names = sorted((ROOT / "web").iterdir())
        self.assertLess(sum(path.stat().st_size for path in names), 150000)
        times = []
        for _ in range(5):
            browser.open(served.address)
            browser.wait("performance.getEntriesByName('first-contentful-paint').length")
            times.append(browser.run("return performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        print(f"first paint after {', '.join(f'{one:.0f}' for one in times)} ms", file=sys.stderr)
        self.assertLess(min(times), 100)


if __name__ == "__main__":
    if not found():
        print("skipped: there is no chromium with its chromedriver")
        sys.exit(77)
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
