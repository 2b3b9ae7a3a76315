#!/usr/bin/env python3
"""Writes the pages of results from the files in docs/results/data.

    scripts/results.py            writes docs/results.md, docs/results/*.md and the tables in other pages
    scripts/results.py --check    writes nothing; exit status 1 if a page is not what would be written

Exit status 2, with one line, says that a template or a file is wrong.

A page is a template, docs/results/templates/NAME.md, with placeholders that the generator replaces:

    {{faces64/box_inpainting/PiGDM (100)/lpips}}    one number: the file, values that name a row, a column
    {{faces64/EPS (20)/chi2: range}}                the smallest and the largest of several rows
    {{faces64/EPS (20)/images_seen: millions}}      the same in words: "4.55 to 4.7 million"
    {{faces64/EPS (20)/box_inpainting/lpips: error}}      one number with its standard error
    {{percent A; B}}                                by how many percent A is more than B, without a sign
    {{remark calibration}}                          the column "remark" of a file, if it has one

and, each on lines of its own,

    {{table FILE                      a line for each row of the file
    columns: task, method, psnr       all columns if left out
    where: method = EPS (20) | PiGDM (100)            only these rows, in this order
    best: task                        bold the best among the rows of one task; `all`: among all rows; `none`: nothing
    errors: no                        leave out the standard errors
    }}
    {{cross FILE                      a line for each value of one column, a column for each value of another
    rows: method
    columns: task
    cells: energy_score, lpips        one block of lines for each
    where, best (all, none), errors   as for a table
    block: yes                        name the metric, though there is one block only
    head: no                          leave out the head, to continue the table above
    title: network                    the head of the first column, its name if left out
    }}
    {{exact gaussian}}                the table of `eps verify --methods` for one prior

In other pages (README.md) the same stands in a comment, with "; " or a new line between the options, and what is
between the comment and <!-- end --> is replaced: lines if the comment ends its line, words if it does not.
"""
import csv
import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "docs/results/data"
TEMPLATES = ROOT / "docs/results/templates"
WITH_TABLES = ["README.md", "docs/python.md", "models/faces64-eps.md", "models/photos-eps-small.md", "models/photos-eps.md"]

# Columns of rows.csv: the title, the digits of a table, and the best value: "high", "low" or a number.
with open(TEMPLATES / "columns.csv", newline="", encoding="utf-8") as file:
    METRICS = {row["column"]: row for row in csv.DictReader(file)}
OPTIONS = {
    "table": ["columns", "where", "best", "errors"],
    "cross": ["rows", "columns", "cells", "where", "best", "errors", "block", "head", "title"],
}
TASKS = ["random_inpainting", "box_inpainting", "super_resolution_4x", "gaussian_deblurring", "motion_deblurring"]


class Wrong(Exception):
    """An error of a template or a file, told in one line."""


def load(name):
    """The rows of docs/results/data/NAME.csv as dictionaries; `method` has the evaluations: "EPS (20)"."""
    path = DATA / f"{name}.csv"
    if not path.exists():
        raise Wrong(f"{path.relative_to(ROOT)}: no such file")
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if row.get("error"):
            raise Wrong(f"{path.relative_to(ROOT)}: a row failed: {row['error']}")
        if row.get("method") and row.get("nfe"):
            row["method"] = f"{row['method']} ({float(row['nfe']):g})"
    return rows


def number(row, column, digits):
    """The number rounded if the row is one of `eps bench`; published numbers keep their digits."""
    text = row.get(column) or ""
    if "spec" not in row or not text:
        return text
    value = float(text)
    return f"{value:.{digits}f}" if value == 0 or abs(value) >= 0.5 * 10**-digits else f"{value:.1g}"


def shown(row, column, error=False):
    value = row.get(column) or ""
    if column in ("task", "operator") and ":" in value:
        return f"`{value}`"
    if column == "task":
        return value.replace("_", " ")
    if column not in METRICS or not value:
        return value
    digits = int(METRICS[column]["digits"])
    se = number(row, f"{column}_se", digits) if error else ""
    return number(row, column, digits) + (f" ± {se}" if se else "")


def title(column):
    return METRICS[column]["title"] if column in METRICS else column.replace("_", " ")


def badness(text, column):
    """How far a shown number is from the best; columns that are no metrics are losses."""
    best = METRICS[column]["best"] if column in METRICS else "low"
    value = float(re.split(r" |,", text)[0])
    return -value if best == "high" else value if best == "low" else round(abs(value - float(best)), 6)


def embolden(cells, column):
    """Bolds the best of these cells, which share a column."""
    numbers = [badness(cell, column) for cell in cells if cell]
    if len(set(numbers)) < 2:
        return cells
    return [f"**{cell}**" if cell and badness(cell, column) == min(numbers) else cell for cell in cells]


def markdown(head, lines):
    rows = [head, ["---"] * len(head)] + lines
    # A bar ends a cell even within backquotes.
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def select(rows, where):
    """The rows whose column has one of the values of "column = a | b", in the order of these."""
    for condition in filter(None, where.split("\n")):
        column, _, values = condition.partition(" = ")
        values = [value.strip() for value in values.split(" | ")]
        missing = [value for value in values if value not in [row.get(column) for row in rows]]
        if missing:
            raise Wrong(f"no row has {column} = {missing[0]}")
        rows = sorted((row for row in rows if row[column] in values), key=lambda row: values.index(row[column]))
    if next(iter(rows[0])) != "task":
        return rows
    return sorted(rows, key=lambda row: TASKS.index(row["task"]) if row["task"] in TASKS else len(TASKS))


def columns_of(name, rows, text):
    """The columns of a list "psnr, lpips", each of which the file has."""
    columns = [column.strip() for column in text.split(",")]
    for column in columns:
        if column not in rows[0]:
            raise Wrong(f"{name}.csv has no column {column}")
    return columns


def table(name, options):
    rows = select(load(name), options.get("where", ""))
    columns = columns_of(name, rows, options["columns"]) if "columns" in options else list(rows[0])
    errors, best = options.get("errors") != "no", options.get("best", "none")
    lines = [[shown(row, column, errors) for column in columns] for row in rows]
    if best != "none":
        among = columns_of(name, rows, best) if best != "all" else []
        groups = [tuple(row[column] for column in among) for row in rows]
        for i, column in enumerate(columns):
            ranked = column in METRICS or re.match(r"[\d.]+-[\d.]+$|all$|validation loss$", column)
            for group in dict.fromkeys(groups) if ranked else ():
                members = [k for k, each in enumerate(groups) if each == group]
                for k, cell in zip(members, embolden([lines[k][i] for k in members], column)):
                    lines[k][i] = cell
    if columns[0] == "task":  # told once
        for i in reversed(range(1, len(lines))):
            if lines[i][0] == lines[i - 1][0]:
                lines[i][0] = ""
    return markdown([title(column) for column in columns], lines)


def cross(name, options):
    rows = select(load(name), options.get("where", ""))
    for key in ("rows", "columns", "cells"):
        if key not in options or key != "cells" and "," in options[key]:
            raise Wrong(f"cross {name}: {key}: {'columns are' if key == 'cells' else 'one column is'} wanted")
    (side,), (top,) = (columns_of(name, rows, options[key]) for key in ("rows", "columns"))
    errors, best = options.get("errors") != "no", options.get("best", "none")
    if best not in ("all", "none"):
        raise Wrong(f"best: {best}: a cross table has all or none")
    labels = list(dict.fromkeys(row[side] for row in rows))
    tops = list(dict.fromkeys(row[top] for row in rows))
    blocks = columns_of(name, rows, options["cells"])
    found = {(row[side], row[top]): row for row in rows}
    named = len(blocks) > 1 or options.get("block") == "yes"
    lines = []
    for metric in blocks:
        block = [[shown(found.get((label, t), {}), metric, errors) for t in tops] for label in labels]
        for i in range(len(tops)) if best == "all" else ():
            for line, cell in zip(block, embolden([line[i] for line in block], metric)):
                line[i] = cell
        for k, (label, line) in enumerate(zip(labels, block)):
            first = [title(metric) if k == 0 else ""] if named else []
            lines.append(first + [shown({side: label}, side)] + line)
    head = ([" "] if named else []) + [options.get("title", title(side))] + [shown({top: t}, top) for t in tops]
    text = markdown(head, lines)
    return text if options.get("head") != "no" else text.split("\n", 2)[2]


def exact(prior):
    """The table of `eps verify --methods`: errors of mean and covariance by operator."""
    rows = json.loads((DATA / "methods_exact.json").read_text(encoding="utf-8"))["rows"]
    rows = [row for row in rows if row["prior"] == prior]
    operators = list(dict.fromkeys(row["operator"] for row in rows))
    lines, floors = [], {}
    for i in range(0, len(rows), len(operators)):
        line = rows[i : i + len(operators)]
        cells = []
        for row in line:
            mark = " =" if row["exact"] else ""
            errors = f"{row['mean_error']:.3f} / {row['covariance_error']:.3f}{mark}"
            cells.append("does not apply" if row["refusal"] else errors)
        drawn = [row for row in line if not row["refusal"]]
        if len(drawn) == len(line):
            floors[line[0]["samples"]] = [f"{row['mean_floor']:.3f} / {row['covariance_floor']:.3f}" for row in line]
        few = "" if line[0]["samples"] == 1000 else f" ({line[0]['samples']} samples)"
        cost = [f"{drawn[-1][unit]:g}" for unit in ("evaluations", "vjps", "solves")]
        lines.append([f"`{line[0]['method']}`{few}", *cells, *cost])
    for samples, floor in sorted(floors.items()):
        lines.append([f"{samples} exact samples, on average", *floor, "", "", ""])
    head = [f"{prior} prior"] + [f"`{spec}`" for spec in operators] + ["evaluations", "VJPs", "solves"]
    return markdown(head, lines)


def rows_at(path):
    """The rows and the column of "file/value/value/column"."""
    name, *values, column = path.strip().split("/")
    rows = [row for row in load(name) if all(value in row.values() for value in values)]
    rows = [row for row in rows if row.get(column)]
    if not rows:
        raise Wrong(f"{path}: nothing there")
    return rows, column


def value(path, form=None):
    rows, column = rows_at(path)
    if form == "range":
        texts = sorted((shown(row, column) for row in rows), key=float)
        return texts[0] if texts[0] == texts[-1] else f"{texts[0]} to {texts[-1]}"
    if form == "millions":
        counts = sorted({float(row[column]) / 1e6 for row in rows})
        return " to ".join(f"{count:.3g}" for count in dict.fromkeys((counts[0], counts[-1]))) + " million"
    if len(rows) > 1:
        raise Wrong(f"{path}: {len(rows)} rows")
    return shown(rows[0], column, error=form == "error")


def percent(paths):
    first, second = (float(value(path)) for path in paths.split(";"))
    return f"{abs(100 * (first / second - 1)):.0f}%"


def options_of(verb, lines):
    options = {}
    for line in filter(None, lines):
        key, _, text = (part.strip() for part in line.partition(":"))
        if key not in OPTIONS[verb]:
            raise Wrong(f"{verb} has no option {key}: {', '.join(OPTIONS[verb])}")
        options[key] = (options[key] + "\n" if key in options else "") + text
    return options


def replace(match):
    verb, _, rest = match[1].strip().partition(" ")
    if verb in ("table", "cross"):
        name, *lines = re.split(r"\n|; ", rest)
        return {"table": table, "cross": cross}[verb](name.strip(), options_of(verb, lines))
    if verb == "exact":
        return exact(rest)
    if verb == "percent":
        return percent(rest)
    if verb == "remark":
        return load(rest)[0].get("remark") or ""
    path, form = re.fullmatch(r"(.*?)(?:: (range|error|millions))?", match[1], flags=re.S).groups()
    return value(path, form)


def filled(text, name):
    try:
        return re.sub(r"\{\{(.*?)\}\}", replace, text, flags=re.S)
    except Wrong as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(2)


def refilled(text):
    """The text with the lines of its paragraphs and lists filled again: numbers are not as long as placeholders."""
    blocks = re.split(r"(\n\n|\n(?=- |\|))", text)
    for i, block in enumerate(blocks):
        if re.match(r"[-\w\"*`\[(]", block) and "\n|" not in block:
            words = re.sub(r"\s+", " ", block).replace(" - ", " -\0").replace(" + ", " +\0")
            indent = "  " if block.startswith("- ") else ""
            words = words if not indent else "- " + words[2:].lstrip("\0")
            lines = textwrap.wrap(words, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
            blocks[i] = "\n".join(lines).replace("\0", " ")
    return "".join(blocks)


def pages():
    """Every page that the generator writes, and its text."""
    for template in sorted(TEMPLATES.glob("*.md")):
        target = ROOT / ("docs/results.md" if template.stem == "index" else f"docs/results/{template.name}")
        note = f"<!-- Made by scripts/results.py from docs/results/templates/{template.name}: edit that. -->\n"
        text = refilled(filled(template.read_text(encoding="utf-8"), template.name).rstrip("\n"))
        yield target, note + text + "\n"
    for name in WITH_TABLES:
        text = (ROOT / name).read_text(encoding="utf-8")
        region = r"(<!-- (\{\{(?:(?!-->).)*\}\})\s*-->)(\n?)(?:(?!<!--).)*(<!-- end -->)"
        # m[3] is the end of the line: a table has blank lines around it, words nothing.
        made = re.sub(region, lambda m: f"{m[1]}{2 * m[3]}{filled(m[2], name)}{2 * m[3]}{m[4]}", text, flags=re.S)
        yield ROOT / name, made


def main():
    stale = []
    for path, text in pages():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path.relative_to(ROOT)))
            if "--check" not in sys.argv:
                path.write_text(text, encoding="utf-8")
    if "--check" in sys.argv and stale:
        sys.exit(f"not what scripts/results.py makes of docs/results: {', '.join(stale)}; run scripts/results.py")


if __name__ == "__main__":
    main()
