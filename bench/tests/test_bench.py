"""The tools of the benchmark, without the peers: what the report makes of raw results, and what the runner does with a driver.

Run by `make test` with `python3 -m unittest discover -s bench/tests`; needs nothing but Python.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
SAMPLE = Path(__file__).resolve().parent / "sample"
sys.path.insert(0, str(BENCH))

from harness import aims, contenders, driver, installed, machine, measure, own, plots, results, summary, tables


def a_record(contender, workload, value, run=1, **more):
    """As bench/run writes it."""
    known = contenders.CONTENDERS[contender]
    fixed = {key: getattr(known, key) for key in ("peer", "label", "group", "durability", "settings", "contract")}
    found = {"latency_us": {"start": {"p50": value, "p99": value * 2}}} if workload == "ping" else {"jobs_per_second": value}
    about = {"cpu": "test", "cores": 2, "memory_bytes": 2**30, "kernel": "6"}
    base = {"schema": 1, "contender": contender, "workload": workload, "run": run, "version": "1.0", "started_at": "2026-01-01T00:00:00+00:00"}
    return {**base, **fixed, "machine": about, "load_before": 0.1, "held": False, **found, **more}


def rows_of(*records):
    return summary.rows(records)


class TheReport(unittest.TestCase):
    """Made from the committed sample, as a user would."""

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.document = self.folder / "benchmarks.md"

    def run_report(self, *more, results_in=SAMPLE):
        command = [sys.executable, BENCH / "report", "--results", results_in, "--document", self.document, *more]
        return subprocess.run(command, capture_output=True, text=True)

    def test_it_is_well_formed_and_leaves_what_was_written_by_hand(self):
        self.document.write_text(f"# Mine\n\nbefore\n\n{tables.BEGIN}\nold\n{tables.END}\n\nafter\n")
        done = self.run_report()
        self.assertEqual(done.returncode, 0, done.stderr)
        text = self.document.read_text()
        self.assertTrue(text.startswith("# Mine\n\nbefore\n\n" + tables.BEGIN), text[:200])
        self.assertTrue(text.endswith(tables.END + "\n\nafter\n"), text[-200:])
        self.assertNotIn("old", text.split(tables.BEGIN)[1].split(tables.END)[0].splitlines())
        tables_found = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
        self.assertGreater(len(tables_found), 4)
        for table in tables_found:
            widths = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
            self.assertEqual(len(widths), 1, table)
        # Once more changes nothing.
        self.run_report()
        self.assertEqual(self.document.read_text(), text)

    def test_its_plots_are_there_and_can_be_read(self):
        self.run_report()
        shown = re.findall(r"\(images/([^)]+)\)", self.document.read_text())
        self.assertIn("bench-depth.svg", shown)
        self.assertIn("bench-latency.svg", shown)
        for file in shown:
            svg = (self.folder / "images" / file).read_text()
            self.assertEqual(xml.etree.ElementTree.fromstring(svg).tag, "{http://www.w3.org/2000/svg}svg")
            self.assertIn("prefers-color-scheme: dark", svg)

    def test_every_workload_of_ganger_is_there_with_its_stores_and_ceilings(self):
        self.run_report()
        alone = self.document.read_text().split("### Every workload")[1]
        for told in ("**`drain`**", "**`depth`**", "**`steady`**", "| embedded |", "| PostgreSQL |", "*raw ceiling, 320 jobs per transaction*"):
            self.assertIn(told, alone)
        self.assertIn("98% of the first row", next(line for line in alone.splitlines() if "100000 waiting | PostgreSQL" in line))

    def test_of_several_rounds_the_slowest_and_the_fastest_are_told(self):
        row = {"label": "drain", "jobs_per_second": 50_000, "values": {"slowest_per_second": 40_000, "fastest_per_second": 61_000}}
        report = {"about": "how fast", "rows": [row, {"label": "once", "jobs_per_second": 7_000}], "took_seconds": 60}
        told = own.section({("sqlite", "fleet"): report})
        self.assertIn("| 50,000 (40,000–61,000) |", told)
        self.assertIn("| 7,000 |", told)

    def test_a_missing_peer_is_told_with_the_reason(self):
        copy = self.folder / "sample"
        shutil.copytree(SAMPLE, copy)
        results.write(copy / "missing.json", {"rows": {}, "peers": {"hyperqueue": "there is none for this machine"}})
        self.run_report(results_in=copy)
        self.assertIn("- hyperqueue: there is none for this machine", self.document.read_text())

    def test_what_failed_in_every_run_is_told_and_not_in_a_table(self):
        copy = self.folder / "sample"
        shutil.copytree(SAMPLE, copy)
        for file in (copy / "drain").glob("graphile-worker-*.json"):
            record = json.loads(file.read_text())
            file.write_text(json.dumps({**record, "error": "it fell over"}))
        self.run_report(results_in=copy)
        text = self.document.read_text()
        self.assertIn("- graphile-worker, drain: failed: it fell over", text)
        self.assertNotRegex(text.split("### Enqueue")[0], r"(?m)^\| graphile-worker")

    def test_without_results_it_says_what_to_do(self):
        done = self.run_report(results_in=self.folder / "nothing")
        self.assertEqual(done.returncode, 1)
        self.assertIn("bench/run", done.stderr)


class Comparisons(unittest.TestCase):
    def test_medians_ranges_and_what_is_called_equal(self):
        rows = rows_of(*(a_record("ganger", "drain", rate, run) for run, rate in enumerate((90, 100, 400), 1)))
        row = rows["drain", "ganger"]
        self.assertEqual((row.median(), row.range()), (100, (90, 400)))
        self.assertEqual(summary.in_words(1.149, "drain"), "equal")
        self.assertEqual(summary.in_words(1 / 1.149, "drain"), "equal")
        self.assertEqual(summary.in_words(1.16, "drain"), "1.16 times as fast")
        self.assertEqual(summary.in_words(0.5, "ping"), "2.00 times later")

    def test_a_run_that_failed_or_was_held_still_does_not_count(self):
        good, held = a_record("ganger", "drain", 100), a_record("ganger", "drain", 7, 2, held=True)
        failed = a_record("river", "drain", 5, error="no")
        rows = rows_of(good, held, failed)
        self.assertEqual(rows["drain", "ganger"].values(), [100])
        self.assertNotIn(("drain", "river"), rows)
        self.assertEqual(summary.failures([good, held, failed], rows), {("drain", "river"): "no"})

    def test_only_the_same_class_is_the_best_peer_for_an_aim(self):
        rows = rows_of(a_record("beanstalkd-memory", "drain", 900), a_record("beanstalkd-f0", "drain", 90))
        self.assertEqual(summary.best(rows, "drain", "embedded", "D2").contender, "beanstalkd-f0")
        self.assertEqual(summary.best(rows, "drain", "embedded").contender, "beanstalkd-memory")

    def test_aims_hold_at_their_bound_and_not_below(self):
        def first(ours):
            rows = rows_of(a_record("ganger", "drain", ours), a_record("river", "drain", 100))
            return aims.verdicts(rows, {})[0]

        self.assertIs(first(100).holds, True)
        self.assertIs(first(99).holds, False)
        self.assertIs(aims.verdicts({}, {})[0].holds, None)
        start = next(v for v in aims.verdicts(rows_of(a_record("ganger", "ping", 61), a_record("river", "ping", 100)), {}) if "PostgreSQL" in v.aim and "Idle" in v.aim)
        self.assertIs(start.holds, False)

    def test_shares_are_taken_from_the_reports_of_ganger(self):
        report = {"rows": [{"name": "drain", "params": {}, "values": {"share_of_ceiling": 0.61}}]}
        told = [verdict for verdict in aims.verdicts({}, {("postgres", "drain"): report}) if verdict.holds]
        self.assertEqual([verdict.found for verdict in told], ["61%, within 15 % of the aim"])

    def test_percentiles_are_the_nearest_rank(self):
        found = measure.spread(range(1, 101))
        self.assertEqual((found["p50"], found["p99"], found["max"], found["count"]), (50, 99, 100, 100))
        self.assertEqual(measure.spread([7])["p99"], 7)

    def test_a_plot_of_one_point_is_a_plot(self):
        svg = plots.lines("a & b", "x", "y", {"one": [(10, 5)]}, log_across=True, log_up=True)
        self.assertIn("a &amp; b", svg)
        xml.etree.ElementTree.fromstring(svg)


class TheRunner(unittest.TestCase):
    """A driver is any program that prints the right lines."""

    def act(self, script, **pids):
        return driver.act([sys.executable, "-c", script], "work", {}, pids)

    def test_a_driver_is_measured_between_its_marks(self):
        busy = "import json,time\nprint('{\"mark\":\"begin\"}',flush=True)\nend=time.monotonic()+0.3\nwhile time.monotonic()<end: pass\nprint('{\"mark\":\"end\"}',flush=True)\nprint(json.dumps({'jobs':1,'seconds':0.3,'verified':'counted'}))"
        result = self.act(busy)
        self.assertEqual(result["jobs"], 1)
        self.assertGreater(result["cpu"]["worker"], 0.0)

    def test_a_driver_that_fails_says_why(self):
        with self.assertRaisesRegex(driver.Failed, "job 7 was handled 2 times"):
            self.act("raise SystemExit('job 7 was handled 2 times')")
        with self.assertRaisesRegex(driver.Failed, "not JSON"):
            self.act("print('hello')")

    def test_a_contender_without_its_peer_is_left_out_with_the_reason(self):
        river = contenders.CONTENDERS["river"]
        self.assertIn("bench/peers/setup", installed.why_missing(river, {}))
        self.assertEqual(installed.why_missing(river, {"river": {"missing": "no Go"}}), "no Go")

    def test_names_of_contenders_make_files_and_their_numbers_make_sense(self):
        for name, contender in contenders.CONTENDERS.items():
            self.assertRegex(name, r"^[a-z0-9+-]+$")
            self.assertIn(contender.durability, contenders.CLASSES)
            self.assertIn(contender.group, tables.GROUPS)
            self.assertLessEqual(set(contender.jobs), set(contenders.WORKLOADS))

    def test_an_unknown_peer_is_refused_with_what_there_is(self):
        done = subprocess.run([sys.executable, BENCH / "run", "--peers", "nobody"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no peer nobody", done.stderr)
        self.assertIn("graphile-worker", done.stderr)

    def test_the_time_of_a_process_and_its_children_is_found(self):
        self.assertGreater(machine.cpu_seconds({"us": 1})["us"], 0.0)


if __name__ == "__main__":
    unittest.main()
