"""What one says on the page arrives as the options of a restoration."""
import pathlib
import struct
import tempfile
import zlib

from served import grey_levels
from session import FACE, Session


def write_grey_png(path, rows):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    header = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 0, 0, 0, 0)
    packed = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed)
                                   + chunk(b"IEND", b""))


class Sayings(Session):
    def command(self):
        """Starts a restoration that is stopped at once, and returns its command."""
        number = self.start()
        command = self.served.json(f"restorations/{number}")["command"]
        self.wait(f"document.querySelector('#jobs a[href=\"#job={number}\"]')")
        self.browser.click("#jobs button")
        self.run_script("location.hash = 'new'")
        self.wait_for("describe")
        return command

    def test_blurs_sizes_and_noise_arrive_as_options(self):
        self.begin()
        self.choose("damage", "motion")
        self.settings(2, 3)
        at = self.pixel_at("edit")
        self.browser.drag([at(10, 40), at(20, 40), at(30, 40)])
        self.assertIn("--motion 20,0", self.command())
        at = self.pixel_at("edit")  # the queue came into sight
        self.browser.drag([at(30, 40), at(30, 31)])  # upwards: counter-clockwise from the right
        self.assertIn("--motion 9,90", self.command())
        self.choose("damage", "defocus")
        self.set("defocus", 2)
        self.set("noise", 0)
        command = self.command()
        self.assertIn("--defocus 2", command)
        self.assertIn("--noise 0.6", command)
        self.choose("damage", "downscale")
        self.choose("factor", "2")
        self.browser.click("#simulate")
        command = self.command()
        for part in ("--downscale 2,bicubic", "--simulate", "--samples 2", "--steps 3", "--model faces64-eps"):
            self.assertIn(part, command)

    def test_holes_have_a_network_of_their_own(self):
        models = self.served.json("models")
        of_samples, of_holes = (next(one["name"] for one in models if one[key]) for key in ("default", "default_for_holes"))
        if self.served.json("status")["device"] == "cpu":
            self.assertEqual((of_samples, of_holes), ("photos-eps-small", "photos-eps"))
        usual = "return document.getElementById('model').selectedOptions[0].textContent"
        self.begin()
        self.set("model", "")
        self.choose("damage", "denoise")
        self.assertEqual(self.run_script(usual), f"the usual: {of_samples}")
        self.assertTrue(self.command().endswith(f"--model {of_samples}"))
        self.choose("damage", "mask")
        self.assertEqual(self.run_script(usual), f"the usual: {of_holes}")
        at = self.pixel_at("edit")
        self.browser.drag([at(10, 40), at(20, 40)])
        self.assertTrue(self.command().endswith(f"--model {of_holes}"))

    def test_the_noise_is_read_off_a_patch(self):
        self.begin()
        self.choose("damage", "denoise")
        self.choose("noise", "patch")
        at = self.pixel_at("edit")
        self.browser.drag([at(2, 2), at(20, 20)])
        self.wait("document.getElementById('noise-said').textContent.startsWith('The patch has noise of')")
        self.settings(2, 2)
        self.assertIn("--noise", self.command())

    def test_the_preview_shows_what_the_damage_does(self):
        self.begin()
        middle = ("(() => { const c = document.getElementById('edit'), o = new OffscreenCanvas(60, 60).getContext('2d');"
                  "o.drawImage(c, 30 - c.width / 2, 30 - c.height / 2);"
                  "return [...o.getImageData(0, 0, 60, 60).data].reduce((a, b, k) => a + b * (k % 7), 0); })()")
        self.choose("damage", "gaussian")
        sharp = self.wait(middle)
        self.browser.click("#edit-bar button")
        self.wait(f"{middle} != {sharp}", 20, "the blurred picture")
        self.assertEqual(self.text("edit-note"), "Preview: the damage once more")
        self.browser.click("#edit-bar button")
        self.wait(f"{middle} == {sharp}", 20, "the picture itself")
        self.assertTrue(self.run_script("return document.getElementById('edit-note').hidden"))
        # Another picture is seen as it is.
        self.browser.click("#edit-bar button")
        self.wait_for("edit-note")
        self.browser.drop(FACE, 640, 450)
        self.wait(f"{middle} == {sharp}", 20, "the picture itself")
        self.assertEqual(self.run_script("return document.querySelector('#edit-bar button').ariaPressed"), "false")

    def test_a_mask_can_be_loaded_and_inverted(self):
        self.begin()
        self.choose("damage", "mask")
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            rows = [[0 if (x + 2 * y) % 5 == 0 else 255 for x in range(64)] for y in range(64)]
            write_grey_png(file.name, rows)
            self.browser.give("#mask-file", file.name)
            self.wait("document.getElementById('mask-share').textContent.startsWith('20%')")
            write_grey_png(file.name, rows[:-1])
            self.browser.give("#mask-file", file.name)
            self.wait("document.getElementById('problem').textContent.includes('64 × 63')")
        self.browser.click("#invert")
        self.settings(2, 2)
        number = self.start()
        received = grey_levels(self.served.get(f"/v1/restorations/{number}/files/mask.png"))
        self.assertEqual(received, [[255 - level for level in row] for row in rows])

    def test_a_picture_can_be_pasted(self):
        self.browser.open("about:blank")
        self.browser.open(self.served.address)
        self.wait("document.querySelector('#demos .small img')")
        self.run_script(
            "const bytes = Uint8Array.from(arguments[0]), data = new DataTransfer();"
            "data.items.add(new File([bytes], 'pasted.png', {type: 'image/png'}));"
            "dispatchEvent(new ClipboardEvent('paste', {clipboardData: data}))", list(FACE.read_bytes()))
        self.wait_for("describe")
        self.assertEqual(self.text("picture-name"), "pasted.png")

    def test_a_picture_that_is_none_is_refused_in_words(self):
        self.begin()
        with tempfile.NamedTemporaryFile(suffix=".png") as file:
            file.write(b"no picture")
            file.flush()
            self.browser.click("#another")
            self.browser.drop(file.name, 600, 500)
            self.wait("document.getElementById('problem').textContent.includes('no picture that can be read')")
