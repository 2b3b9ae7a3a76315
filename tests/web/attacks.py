"""What a page of another host can do to the server, which is nothing, even if it knew the token."""
import http.server
import threading

from session import Session

HOSTILE = """<!doctype html><title>hostile</title><script>
const [base, query] = location.hash.slice(1).split("?");
const options = {operator: {denoise: true}, demo: "face-01", noise: "6", samples: 1, steps: 1};
const form = () => { const body = new FormData(); body.append("options", JSON.stringify(options)); return body; };
const outcome = (asked) => asked.then((answer) => answer.type == "opaque" ? "opaque" : String(answer.status), () => "refused");
const loaded = (made) => new Promise((done) => {
  made.onload = () => done("loaded");
  made.onerror = () => done("refused");
  document.head.append(made);
});
window.outcomes = Promise.all([
  outcome(fetch(`${base}/v1/status?${query}`)),
  outcome(fetch(`${base}/v1/restorations?${query}`, {method: "POST", body: form()})),
  outcome(fetch(`${base}/v1/restorations?${query}`, {method: "POST", body: form(), mode: "no-cors"})),
  loaded(Object.assign(new Image(), {src: `${base}/v1/demo/face-01.png?${query}`})),
  loaded(Object.assign(document.createElement("script"), {type: "module", src: `${base}/page/words.js`})),
]);
document.documentElement.append(Object.assign(document.createElement("iframe"), {src: `${base}/?${query}`}));
</script>"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(HOSTILE.encode())

    def log_message(self, *_):
        pass


class Attacks(Session):
    def tearDown(self):
        # The browser says what it refused, and other hosts are asked here.
        self.browser.listen()
        self.browser.complaints.clear()
        self.browser.hosts.clear()
        super().tearDown()

    def test_a_page_of_another_host_reads_and_starts_nothing(self):
        other = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
        threading.Thread(target=other.serve_forever, daemon=True).start()
        try:
            query = self.served.address.split("?")[1]
            self.browser.open(f"http://127.0.0.1:{other.server_port}/#{self.served.base}?{query}")
            outcomes = self.run_script("return window.outcomes")
            self.assertEqual(outcomes, ["refused"] * 5)
            self.assertEqual(self.served.json("restorations"), [])
            self.browser.listen()
            framed = [words for words in self.browser.complaints if "frame" in words.lower()]
            self.assertTrue(framed, self.browser.complaints)
        finally:
            other.shutdown()
            other.server_close()

    def test_a_name_that_is_made_to_lead_here_is_not_served(self):
        address = self.served.address.replace("127.0.0.1", "rebound.example")
        self.browser.open(address)
        self.assertIn("Host", self.run_script("return document.body.textContent"))
        self.assertFalse(self.run_script("return Boolean(document.getElementById('start'))"))
