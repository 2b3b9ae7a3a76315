"""How the page looks: themes, widths, plots, and how soon."""
import json
import sys

from session import ROOT, Session


class Looks(Session):
    def test_dark_and_light_follow_the_system_or_the_switch(self):
        self.begin()
        ground = "return getComputedStyle(document.body).backgroundColor"
        light = self.run_script(ground)
        try:
            self.browser.emulate("prefers-color-scheme", "dark")
            dark = self.run_script(ground)
            self.assertNotEqual(light, dark)
            for theme, expected in (("dark", dark), ("light", light), ("system", dark)):
                self.browser.click("#theme")
                self.assertEqual(self.text("theme"), f"Theme: {theme}")
                self.assertEqual(self.run_script(ground), expected)
        finally:
            self.browser.emulate("prefers-color-scheme", "light")

    def test_four_hundred_pixels_are_wide_enough(self):
        self.begin(400, 800)
        fits = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        for damage in ("mask", "motion", "defocus", "downscale", "gaussian", "denoise"):
            self.choose("damage", damage)
            self.assertTrue(self.run_script(fits), damage)
        self.settings(2, 2)
        self.start()
        self.wait_for("result-part", 60)
        for arrange in ("beside", "all", "divider"):
            self.choose("arrange", arrange)
            self.assertTrue(self.run_script(fits), arrange)
        for page in ("exactness", "networks"):
            self.run_script("location.hash = arguments[0]", page)
            self.wait_for(page)
            self.assertTrue(self.run_script(fits), page)
        self.wait("document.querySelectorAll('#network-list article').length > 0")

    def test_exactness_draws_methods_beside_the_truth(self):
        self.browser.size(1280, 900)
        self.browser.open(self.served.address + "#exactness")
        self.wait("document.querySelectorAll('#exact-plots canvas').length >= 3", 30)
        words = "document.querySelectorAll('#exact-plots figcaption')[1].textContent"
        said = self.run_script(f"return {words}")
        self.assertTrue(said.startswith("EPS"), said)
        self.set("exact-y", 1)
        self.wait(f"{words} != {json.dumps(said)}", 30, "another answer")

    def test_an_evaluation_is_on_the_screen_soon(self):
        self.begin()
        number = self.start_long()
        # From an event's arrival to the frame after the one in which the page has drawn it.
        late = self.run_script(
            "return new Promise((done) => {"
            "  const times = [], stream = new EventSource(arguments[0]);"
            "  stream.addEventListener('evaluation', (event) => {"
            "    const start = performance.now(), wanted = JSON.parse(event.data).done;"
            "    const look = () => {"
            "      if (parseInt(document.getElementById('progress-left').textContent) < wanted) return requestAnimationFrame(look);"
            "      requestAnimationFrame(() => times.push(performance.now() - start));"
            "      if (times.length > 7) { stream.close(); done(times.sort((a, b) => a - b)); }"
            "    };"
            "    requestAnimationFrame(look);"
            "  });"
            "})", f"{self.served.base}/v1/restorations/{number}/events?token={self.served.token}")
        median = late[len(late) // 2]
        print(f"on the screen {median:.0f} ms after the event, at most {late[-1]:.0f} ms", file=sys.stderr)
        self.assertLess(median, 100)

    def first_paint(self, address):
        """The milliseconds until a page is seen, the least of five times."""
        times = []
        for _ in range(5):
            self.browser.open(address)
            self.wait("performance.getEntriesByName('first-contentful-paint').length")
            times.append(self.run_script("return performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        return min(times)

    def test_the_page_is_small_and_seen_at_once(self):
        self.assertLess(sum(path.stat().st_size for path in (ROOT / "web").iterdir()), 150000)
        empty, times = self.first_paint("data:text/html,<p>nothing"), self.first_paint(self.served.address)
        print(f"first paint after {times:.0f} ms, of an empty page after {empty:.0f} ms", file=sys.stderr)
        # A machine that is busy is slow with every page.
        self.assertLess(times, max(100, 3 * empty))
