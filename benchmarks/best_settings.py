#!/usr/bin/env python3
"""Writes the experiment that compares methods, each with the setting that was best in another experiment.

    benchmarks/best_settings.py TUNING.json ROWS.csv COMPARISON.json OUT.json [--by METRIC]

TUNING.json has several rows of a method, and ROWS.csv is what `eps bench` made of it. For each task and each method the
row with the lowest METRIC (energy_score_fair) is added to the rows of COMPARISON.json, under the method's words before
the comma of its label. Settings at which a cell failed or is missing do not count. Prints what was chosen, of how many
settings, and whether it was the first or the last of the numbers that were tried.
"""
import argparse
import csv
import json
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("tuning", metavar="TUNING.json")
parser.add_argument("rows", metavar="ROWS.csv")
parser.add_argument("comparison", metavar="COMPARISON.json")
parser.add_argument("out", metavar="OUT.json")
parser.add_argument("--by", metavar="METRIC", default="energy_score_fair")
options = parser.parse_args()


def numbers(setting):
    """Returns the options of a method that are numbers: {"zeta": 0.3}."""
    return {key: float(value) for key, value in re.findall(r"(\w+)=([-+]?\d[\d.e+-]*)", setting)}


def edges(setting, tried):
    """Returns the options of a setting whose number is the least or the largest of several that were tried."""
    found = []
    for key, value in numbers(setting).items():
        values = {numbers(other).get(key) for other in tried} - {None}
        if len(values) > 1 and value in (min(values), max(values)):
            found.append(f"{key}={value:g}")
    return found


for path in (options.tuning, options.rows, options.comparison):
    if not Path(path).is_file():
        sys.exit(f"{path}: no such file")
with open(options.tuning) as file:
    tuning = json.load(file)
with open(options.comparison) as file:
    comparison = json.load(file)
settings = {row["label"]: row for row in tuning["methods"]}
counts = Counter(label.split(",")[0] for label in settings)
scores = defaultdict(dict)  # (task, method): {label: score}
with open(options.rows, newline="") as file:
    rows = csv.DictReader(file)
    if options.by not in rows.fieldnames:
        sys.exit(f"{options.rows} has no column {options.by}; there are {', '.join(rows.fieldnames)}")
    for row in rows:
        if row["method"] in settings and row[options.by] not in ("", "nan", "inf"):
            tried = scores[row["task"], row["method"].split(",")[0]]
            if row["method"] in tried:
                sys.exit(f"{options.rows} has several rows of {row['method']} for {row['task']}; one noise level is wanted")
            tried[row["method"]] = float(row[options.by])
chosen = defaultdict(list)  # label of the setting: tasks
for (task, method), tried in scores.items():
    label = min(tried, key=tried.get)
    chosen[label].append(task)
    at_edge = edges(settings[label]["method"], [settings[other]["method"] for other in tried])
    print(f"{task:48} {label:40} {tried[label]:8.4f}  of {len(tried)} of {counts[method]} settings"
          f"{'; edge: ' + ', '.join(at_edge) if at_edge else ''}")
for label in settings:
    if label in chosen:
        comparison["methods"].append({**settings[label], "label": label.split(",")[0], "tasks": chosen[label]})
with open(options.out, "w") as file:
    json.dump(comparison, file, indent=1)
    file.write("\n")
