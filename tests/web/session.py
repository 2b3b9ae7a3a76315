"""The server and the browser of a test, and the steps that tests of the page share."""
import pathlib
import unittest

from browser import Browser
from served import Served

ROOT = pathlib.Path(__file__).resolve().parents[2]
FACE = ROOT / "models/faces64-images/01.png"


class Session(unittest.TestCase):
    """Tests with one server and one browser, in which nobody may complain and no other host is asked."""
    program = None

    @classmethod
    def setUpClass(cls):
        cls.served = Served(cls.program)
        cls.addClassCleanup(cls.served.close)
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        cls.browser.open(cls.served.address)

    def tearDown(self):
        self.browser.listen()
        complaints, self.browser.complaints = self.browser.complaints, []
        self.run_script("sessionStorage.clear()")  # the next test begins without a draft
        self.browser.open("about:blank")
        for job in self.served.json("restorations"):
            self.served.delete(f"restorations/{job['id']}")
        self.assertEqual(complaints, [])
        foreign = {host for host in self.browser.hosts if host.startswith(("http", "ws")) and host != self.served.base}
        self.assertEqual(foreign, set())

    def run_script(self, script, *values):
        return self.browser.run(script, *values)

    def wait(self, condition, seconds=20, what=None):
        return self.browser.wait(condition, seconds, what)

    def wait_for(self, name, seconds=20):
        """Waits until the element of that name is seen."""
        return self.wait(f"document.getElementById('{name}').offsetParent", seconds, f"#{name} in sight")

    def text(self, name):
        return self.browser.run("return document.getElementById(arguments[0]).textContent", name)

    def set(self, name, value):
        self.browser.run("const e = document.getElementById(arguments[0]); e.value = arguments[1];"
                         "for (const n of ['input', 'change']) e.dispatchEvent(new Event(n, {bubbles: true}))", name, value)

    def choose(self, name, value):
        self.browser.click(f'label:has([name="{name}"][value="{value}"])')

    def begin(self, width=1280, height=900):
        """Opens the page anew, and drops a face on it."""
        self.browser.size(width, height)
        self.browser.open("about:blank")
        self.browser.open(self.served.address)
        self.wait("document.querySelector('#demos img')")
        self.browser.drop(FACE, width // 2, height // 2)
        self.wait_for("describe")

    def settings(self, samples, steps):
        """Chooses few evaluations of the network for faces, and none for the noise."""
        if not self.run_script("return document.querySelector('[name=noise][value=patch]').checked"):
            self.choose("noise", "level")
        self.browser.run("document.getElementById('settings').open = true")
        for name, number in (("model", "faces64-eps"), ("samples", samples), ("steps", steps)):
            self.set(name, number)

    def start(self):
        """Starts the restoration, and returns its number."""
        self.browser.click("#restore")
        return self.wait("location.hash.startsWith('#job=') && location.hash.slice(5)")

    def start_long(self):
        self.choose("damage", "denoise")
        self.settings(8, 200)
        number = self.start()
        self.wait("document.getElementById('progress').value > 0", 30, "the first evaluation")
        return number

    def pixel_at(self, canvas):
        """Returns the function from pixels of the picture of 64 x 64, all of it shown, to the window."""
        left, top, width, height = self.browser.run(
            "const b = document.getElementById(arguments[0]).getBoundingClientRect();"
            "return [b.left, b.top, b.width, b.height]", canvas)
        scale = min((width - 32) / 64, (height - 32) / 64, 64)
        return lambda x, y: (left + width / 2 + (x - 31.5) * scale, top + height / 2 + (y - 31.5) * scale)
