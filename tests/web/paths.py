"""The ways through the page, from the drop to the download, by pointer and by keyboard."""
import io
import pathlib
import time
import zipfile

from served import grey_levels
from session import FACE, Session


class Paths(Session):
    def paint(self):
        """Paints with all tools, and returns the pixels (x, y) that are then wrong."""
        at, wrong = self.pixel_at("edit"), set()
        self.set("brush", 5)
        self.browser.drag([at(x, 20) for x in (10, 22, 30)])
        wrong |= {(x, y) for x in range(64) for y in range(64)
                  if (x - min(max(x, 10), 30)) ** 2 + (y - 20) ** 2 <= 2.5 ** 2}
        self.choose("tool", "rectangle")
        self.browser.drag([at(40, 40), at(50, 45), at(55, 51)])
        wrong |= {(x, y) for x in range(40, 56) for y in range(40, 52)}
        self.choose("tool", "eraser")
        self.set("brush", 3)
        self.browser.press("[", "[")
        self.browser.drag([at(45, 44), at(50, 44)])
        wrong -= {(x, 44) for x in range(45, 51)}
        self.choose("tool", "brush")
        self.browser.drag([at(3, 60), at(9, 60)])
        self.browser.drag([at(3, 5), at(9, 5)])
        wrong |= {(x, 60) for x in range(3, 10)}
        for name in ("undo", "undo", "redo"):
            self.browser.click(f"#{name}")
        return wrong

    def test_from_the_drop_to_the_download_with_the_mask_as_it_was_painted(self):
        self.begin()
        self.choose("damage", "mask")
        wrong = self.paint()
        self.settings(2, 4)
        number = self.start()
        self.wait_for("result-part", 60)
        rows = grey_levels(self.served.get(f"/v1/restorations/{number}/files/mask.png"))
        self.assertEqual({(x, y) for y in range(64) for x in range(64) if rows[y][x] == 0}, wrong)
        self.assertEqual({level for row in rows for level in row}, {0, 255})
        self.check_result()
        self.check_download()

    def check_result(self):
        self.assertGreater(len(self.text("verdict")), 10)
        shown = self.run_script("return [...document.querySelectorAll('#strip span')].map((e) => e.textContent)")
        self.assertEqual(shown, ["Best guess", "Sample 1", "Sample 2", "Dark end", "Bright end"])
        self.browser.hover(*self.pixel_at("view")(12, 30))
        self.wait("document.getElementById('pixel-words').textContent.startsWith('At 12, 30')")
        self.assertEqual(self.run_script("return document.querySelectorAll('#pixel-plots svg').length"), 3)
        command = self.text("command")
        self.assertIn("eps restore", command)
        self.assertIn("--mask", command)

    def check_download(self):
        self.browser.click("#zip")
        folder, end = pathlib.Path(self.browser.folder.name), time.monotonic() + 10
        while not (zips := list(folder.glob("*.zip"))) and time.monotonic() < end:
            time.sleep(0.05)
        names = zipfile.ZipFile(io.BytesIO(zips[0].read_bytes())).namelist()
        for name in ("mean.png", "sample-2.png", "restore.json"):
            self.assertTrue(any(one.endswith(name) for one in names), f"{name} in {names}")

    def test_cancelling_frees_the_worker_for_the_next(self):
        self.begin()
        number = self.start_long()
        self.browser.click("#cancel")
        self.wait("document.getElementById('job-state').textContent == 'cancelled'", 10)
        self.assertEqual(self.served.json(f"restorations/{number}")["state"], "cancelled")
        self.run_script("location.hash = 'new'")
        self.wait_for("describe")
        self.settings(2, 2)
        self.start()
        self.wait_for("result-part", 60)

    def test_a_reload_in_the_middle_keeps_it(self):
        self.begin()
        self.start_long()
        before = self.run_script("return document.getElementById('progress').value")
        self.run_script("location.reload()")
        self.wait_for("progress-part")
        self.wait(f"document.getElementById('progress').value > {before}", 20, "further progress")
        self.assertEqual(self.text("job-name"), FACE.name)

    def test_a_reload_keeps_what_was_painted(self):
        self.begin()
        self.choose("damage", "mask")
        wrong = self.paint()
        self.settings(2, 3)
        self.wait("sessionStorage.getItem('eps-draft')?.includes('\"steps\":\"3\"')", 20, "a draft")
        self.run_script("location.reload()")
        self.wait("document.querySelector('#demos img')")
        self.wait_for("describe")
        self.assertEqual(self.text("picture-name"), FACE.name)
        self.assertTrue(self.run_script("return document.getElementById('undo').disabled"))
        # A picture that found no room is asked for, and has its draft then.
        self.run_script("sessionStorage.removeItem('eps-picture'); location.reload()")
        self.wait("document.getElementById('problem').textContent.includes('Open it again')")
        self.browser.drop(FACE, 640, 450)
        self.wait_for("describe")
        number = self.start()
        job = self.served.json(f"restorations/{number}")
        for part in (f"eps restore {FACE.name}", "--mask", "--samples 2", "--steps 3", "--model faces64-eps"):
            self.assertIn(part, job["command"])
        rows = grey_levels(self.served.get(f"/v1/restorations/{number}/files/mask.png"))
        self.assertEqual({(x, y) for y in range(64) for x in range(64) if rows[y][x] == 0}, wrong)
        # What is put aside is not kept, and a restoration gives its picture and mask back.
        self.run_script("location.hash = 'new'")
        self.wait_for("describe")
        self.browser.click("#another")
        self.wait("sessionStorage.getItem('eps-draft') == 'null'", 20, "an empty draft")
        self.run_script("location.reload()")
        self.wait("document.querySelector('#demos img')")
        self.wait_for("start")
        self.run_script("location.hash = arguments[0]", f"job={number}")
        self.wait_for("job")
        self.wait("document.getElementById('job-name').textContent != 'Restoration'")
        self.browser.click("#again")
        self.wait_for("describe")
        self.wait(f"document.getElementById('mask-share').textContent.startsWith('{100 * len(wrong) / 4096:.2g}%')")

    def test_two_tabs_agree(self):
        self.begin()
        number = self.start_long()
        first, _ = self.browser.tab(self.served.address)
        try:
            self.wait(f"document.querySelector('#jobs a[href=\"#job={number}\"] .running')")
            self.browser.click("#jobs button")
        finally:
            self.browser.call("DELETE", "/window")
            self.browser.switch(first)
        self.wait("document.getElementById('job-state').textContent == 'cancelled'", 10)
        self.wait("document.querySelector('#jobs .cancelled')")

    def test_several_wait_in_a_queue_that_is_seen(self):
        self.begin()
        self.start_long()
        for _ in range(2):
            self.run_script("location.hash = 'new'")
            self.wait_for("describe")
            self.start()
        self.wait("document.querySelectorAll('#jobs .queued').length == 2")
        self.browser.click("#jobs button")
        self.wait("document.querySelectorAll('#jobs .queued').length == 1")

    def go(self, selector, key="tab", most=60):
        """Presses a key until what it leads to has the focus."""
        for _ in range(most):
            if self.run_script("return document.activeElement.matches(arguments[0])", selector):
                return
            self.browser.press(key)
        self.fail(f"no key leads to {selector}")

    def test_the_keyboard_alone_is_enough(self):
        self.browser.open("about:blank")
        self.browser.open(self.served.address)
        self.wait("document.querySelector('#demos .small img')")
        self.go("#demos .small button")
        self.browser.press("enter")
        self.wait_for("describe")
        self.go("[name=damage]")
        self.browser.press("space")  # the first: scratches
        self.wait("document.querySelector('[data-damage=mask]').offsetParent")
        self.go("#edit", ("shift", "tab"))
        self.browser.press("left", "space", "right", "right", ("shift", "down"), "space")
        self.wait("document.getElementById('mask-share').textContent.includes('painted.')")
        self.assertFalse(self.run_script("return document.getElementById('undo').disabled"))
        self.settings(2, 2)
        self.go("#restore")
        self.browser.press("enter")
        self.wait_for("result-part", 60)
        self.go("#divider")
        self.browser.press("right", "right")
        self.assertEqual(float(self.run_script("return document.getElementById('divider').value")), 51)
        self.go("[name=shown]")
        self.browser.press("right")
        self.assertEqual(self.run_script("return document.querySelector('[name=shown]:checked').value"), "sample-1")
        self.go("#view", ("shift", "tab"))
        self.browser.press("right")
        self.wait("document.getElementById('pixel-words').textContent.startsWith('At ')")
        self.go("#zip")
