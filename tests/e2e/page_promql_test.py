#!/usr/bin/env python3
"""PromQL on the page's Explore, in a real headless Chromium before a real server. See page_support.py."""

import json
import subprocess
import unittest

from page_support import EVIL, HOSTS, PageCase, cpu_points

FIELD = ".expression-field textarea"
PROBLEM = ".expression-field ~ .problem"
OPTION = ".expression-field [role=option]"
ALL = '{"sys.cpu.user"}'


class PromqlTest(PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.put(cpu_points(cls.end))
        cls.server.put([{"metric": "http_requests_total", "timestamp": t, "value": (cls.end - t) // 100,
                         "tags": {"job": "api", "code": "200"}} for t in range(cls.end - 10800, cls.end, 60)])

    # ---- helpers --------------------------------------------------------------------------------

    def open_promql(self, *expressions, more=""):
        asked = "".join(f"&promql={json.dumps(one)[1:-1]}" for one in expressions)
        for raw, code in (("\\\"", "%22"), (" ", "%20"), ("{", "%7B"), ("}", "%7D")):
            asked = asked.replace(raw, code)
        self.open(f"#start={(self.end - 10800) * 1000}&end={self.end * 1000}{asked}{more}")

    def expression(self, index=0):
        return self.browser.run(f"return document.querySelectorAll('{FIELD}')[arguments[0]].value", index)

    def write(self, text):
        """In place of what the first field holds; the focus stays there."""
        self.browser.run(f"const field = document.querySelector('{FIELD}'); field.focus();"
                         "field.value = arguments[0]; field.dispatchEvent(new Event('input'))", text)

    def choose(self, option):
        """Walks down to an option by the keyboard, and takes it."""
        self.browser.wait(option, lambda: option in self.options())
        for _ in range(self.options().index(option) + 1):
            self.browser.press("DOWN")
        self.browser.press("ENTER")

    def options(self):
        return self.browser.run(
            f"return [...document.querySelectorAll('{OPTION} .option-name')].map((one) => one.textContent)")

    # ---- tests ----------------------------------------------------------------------------------

    def test_the_switch_translates_and_the_link_keeps_it(self):
        self.open_cpu()
        self.browser.click(".segment:nth-of-type(2)")
        self.browser.wait("the language", lambda: "promql=" in self.fragment())
        self.assertEqual(self.expression(), 'avg by (host) ({"sys.cpu.user", host!=""})')
        self.wait_series(len(HOSTS))
        self.assertNotIn("m=", self.fragment().replace("promql=", ""))
        for host in HOSTS:
            self.assertIn(host, self.legend())
        self.shot("promql")
        self.check_contrast()
        before = (self.legend(), self.browser.url())
        self.browser.reload()
        self.wait_series(len(HOSTS))
        self.assertEqual((self.legend(), self.browser.url()), before)
        self.browser.back()
        self.browser.wait("OpenTSDB", lambda: "m=avg" in self.fragment() and self.browser.count(".metric input"))
        self.wait_series(len(HOSTS))

    def test_an_expression_is_completed_at_the_cursor(self):
        self.open_promql("")
        self.browser.wait("the hint", lambda: "Write an expression" in self.browser.text(".notice-empty"))
        self.write("sum b")
        self.choose("by")
        self.browser.type(FIELD, "(")
        self.browser.type(FIELD, "ho")
        self.browser.wait("labels", lambda: "host" in self.options())
        self.choose("host")
        self.browser.type(FIELD, ") (ra")
        self.choose("rate(v[5m])")
        self.browser.type(FIELD, "sys.cpu")
        self.browser.wait("metrics", lambda: "sys.cpu.user" in self.options())
        self.shot("promql-completion")
        self.check_contrast()
        self.choose("sys.cpu.user")
        self.assertEqual(self.expression(), 'sum by (host) (rate({"sys.cpu.user"}')
        self.browser.press("LEFT")
        self.browser.type(FIELD, ", d")
        self.choose("dc")
        self.browser.type(FIELD, "=")
        self.choose("lga")
        self.assertEqual(self.expression(), 'sum by (host) (rate({"sys.cpu.user", dc="lga"}')
        self.browser.press("RIGHT")
        self.browser.type(FIELD, "[5m]))")
        self.browser.press("ENTER")
        self.wait_series(3)
        self.browser.type(FIELD, " *")
        self.browser.press("ESCAPE", "ESCAPE")
        self.assertNotIn("*", self.expression())

    def test_an_error_is_marked_at_its_place(self):
        self.expected_errors = ["400 (Bad Request)"]
        self.open_promql(ALL)
        self.wait_series(len(HOSTS))
        self.write("up\n+ on foo")
        self.browser.press("ENTER")
        self.browser.wait("the error", lambda: "2:6" in self.browser.text(".notice-error"))
        self.browser.wait("the mark", lambda: self.browser.run(
            "return document.querySelector('.wrong').textContent") == "foo")
        problem = self.browser.text(PROBLEM)
        self.assertTrue(problem and "2:6" not in problem, problem)
        self.assertIn(problem, self.browser.text(".notice-error"))
        self.shot("promql-error")
        self.check_contrast()
        self.browser.type(FIELD, "d")
        self.browser.wait("no mark", lambda: self.browser.count(".wrong") == 0)
        self.write(f"rate({ALL})")
        self.browser.press("ENTER")
        self.browser.wait("the wrong type", lambda: "expected type range vector" in self.browser.text(".notice-error"))
        self.write(ALL)
        self.browser.press("ENTER")
        self.wait_series(len(HOSTS))
        self.assertEqual(self.browser.count(".notice-error:not([hidden])"), 0)

    def test_warnings_and_infos_stand_above_the_answer(self):
        self.open_promql(f"quantile(2, {ALL})")
        self.browser.wait("the warning", lambda: "between 0 and 1" in self.browser.text(".told-warning"))
        self.shot("promql-warning")
        self.check_contrast()
        self.write(f"rate({ALL}[5m])")
        self.browser.press("ENTER")
        self.browser.wait("the info", lambda: "might not be a counter" in self.browser.text(".told-info"))
        self.assertEqual(self.browser.count(".told-warning"), 0)
        self.check_contrast()
        self.write("1 / 0")
        self.browser.press("ENTER")
        self.browser.wait("no notice", lambda: self.browser.count(".told li") == 0)
        self.wait_series(1)
        self.assertIn("1 / 0", self.legend())
        self.assertIn("∞", self.legend())

    def test_cost_table_and_copies(self):
        self.open_promql(ALL, more="&step=1m")
        self.wait_series(len(HOSTS))
        self.assertIn("every 1m", self.browser.text(".status"))
        self.browser.wait("the cost", lambda: "sample" in self.browser.text(".cost-work"))
        self.assertIn("read and evaluate", self.browser.text(".cost-times"))
        self.browser.click("#tab-table")
        self.browser.wait("rows", lambda: self.browser.count(".points tbody tr") > 170)
        self.browser.click("#tab-json")
        self.browser.wait("the request", lambda: "query_range" in self.browser.text(".json-view"))
        self.browser.chrome("Browser.grantPermissions", {
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"], "origin": self.server.url})
        for item in ("copy-link", "copy-curl", "copy-promql"):
            self.browser.click("#share")
            self.assertFalse(self.browser.run("return document.querySelector('#copy-json').checkVisibility()"))
            self.browser.click(f"#{item}")
            self.browser.wait("the message", lambda: "copied" in self.browser.text(".toast"))
            text = self.browser.run("return navigator.clipboard.readText()")
            if item == "copy-link":
                self.assertEqual(text, self.browser.url())
            elif item == "copy-curl":
                done = subprocess.run(["sh", "-c", text], capture_output=True, check=True)
                self.assertEqual(len(json.loads(done.stdout)["data"]["result"]), len(HOSTS))
            else:
                self.assertEqual(text, ALL)

    def test_two_expressions_and_the_right_axis(self):
        self.open_promql(ALL, f"sum({ALL})", more="&o=&o=axis%20x1y2")
        self.wait_series(len(HOSTS) + 1)
        self.assertEqual(self.browser.run("return document.querySelectorAll('.u-axis').length"), 3)
        self.browser.click("[aria-label='Hide query B']")
        self.wait_series(len(HOSTS))
        self.browser.click("[aria-label='Remove query B']")
        self.browser.wait("one", lambda: self.browser.count(FIELD) == 1)
        self.browser.click("#add-expression")
        self.browser.wait("two", lambda: self.browser.count(FIELD) == 2)
        self.assertTrue(self.browser.run(
            f"return document.activeElement === document.querySelectorAll('{FIELD}')[1]"))

    def test_dark_narrow_and_every_control_has_a_name(self):
        self.addCleanup(self.use_dark, False)
        self.use_dark(True)
        self.open_promql(ALL)
        self.wait_series(len(HOSTS))
        self.check_contrast()
        self.check_names(30)
        self.shot("promql-dark")
        self.addCleanup(self.browser.chrome, "Emulation.clearDeviceMetricsOverride", {})
        self.browser.chrome("Emulation.setDeviceMetricsOverride",
                            {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": False})
        self.open_promql(" + ".join([ALL] * 12))
        self.browser.wait("the answer", lambda: "series" in self.browser.text(".status"))
        self.assertEqual(self.browser.run("return document.scrollingElement.scrollWidth"), 390)
        heights = self.browser.run(
            f"const f = document.querySelector('{FIELD}'); return [f.clientHeight, f.scrollHeight]")
        self.assertGreaterEqual(*heights)  # all of a long expression is seen
        self.shot("promql-narrow")

    def test_names_are_text_and_never_markup(self):
        self.expected_errors = ["400"]
        self.fake_fetch(f"""
            const evil = {json.dumps(EVIL)};
            const answer = (value, status = 200) => new Response(JSON.stringify(value), {{ status }});
            if (url.startsWith('prometheus/api/v1/label')) return answer({{ status: 'success', data: [evil] }});
            if (url.startsWith('prometheus/api/v1/metadata'))
              return answer({{ status: 'success', data: {{ [evil]: [{{ type: evil, help: evil, unit: '' }}] }} }});
            if (url.startsWith('prometheus/api/v1/query_range') && init.body.get('query') === 'bad')
              return answer({{ status: 'error', errorType: 'bad_data', error: '1:1: parse error: ' + evil }}, 400);
            if (url.startsWith('prometheus/api/v1/query_range')) return answer({{ status: 'success',
              data: {{ resultType: 'matrix', result: [{{ metric: {{ __name__: evil, [evil]: evil }},
                values: [[{self.end - 60}, '1'], [{self.end - 30}, '2']] }}] }},
              warnings: [evil], infos: [evil] }});""")
        self.open_promql("up")
        self.wait_series(1)
        self.assertIn(EVIL, self.legend())
        self.assertIn(EVIL, self.browser.text(".told"))
        self.write("xy")
        self.browser.wait("the list", lambda: EVIL in self.options())
        self.browser.press("ESCAPE")
        self.write("bad")
        self.browser.press("ENTER")
        self.browser.wait("the error", lambda: EVIL in self.browser.text(PROBLEM))
        self.assertEqual(self.browser.count("img"), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
