"""Tables of a load for a terminal of a hundred columns; what the generator limited stands apart."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from harness.record.load import Knee, LoadRecord, LoadResult
from harness.report.terminal import compact, terminal_width, widest
from harness.report.text import fitted

WIDTH = 100
HEADERS = ("verb", "nodes", "load", "sent", "failed", "p50", "p95", "p99", "max", "service\np99", "lag\np99")
KNEE_HEADERS = ("subject", "verb", "nodes", "p99 within", "highest rate", "ended by", "pods/s")
IN_SITU_HEADERS = ("subject", "verb", "nodes", "calls", "failed", "p50", "p90", "p95", "p99", "max")
SUBJECT_CHARACTERS_MAX = 60
NAME_CHARACTERS_MAX = 24
DIGITS = ((100, 0), (10, 1), (0, 2))


def load_text(record: LoadRecord) -> str:
    """Return what a person wants to know of a load."""
    lines: list[str] = []
    for subject in dict.fromkeys(result.subject for result in record.results):
        mine = [result for result in record.results if result.subject == subject]
        good = [result for result in mine if not result.generator_limited]
        limited = [result for result in mine if result.generator_limited]
        lines += [f"{shortened(subject)}: milliseconds from the intended start", *_table(good, mine)]
        if limited:
            lines += ["", "limited by the generator, so not figures of the extender:", *_table(limited, mine)]
        lines += _floor(mine)
        lines += ["", *_notes(mine)] if any(result.notes or result.error_kinds for result in mine) else []
        lines.append("")
    if record.knees:
        lines += [knee_table(record.knees), ""]
    if seen := record.meta.get("in_situ"):
        lines += [in_situ_table(seen), ""]
    lines += [line for warning in record.meta.get("warnings") or () for line in wrapped(f"warning: {warning}")]
    if record.meta.get("status") not in ("complete", None):
        lines.append(f"the load ended early: {record.meta['status']}")
    return "\n".join([*lines, f"record: {record.path}"])


def _table(results: Sequence[LoadResult], among: Sequence[LoadResult]) -> list[str]:
    if not results:
        return ["  (nothing)"]
    rows = [
        [
            result.verb,
            _size(result, among),
            f"closed {result.schedulers}" if result.rate is None else _rate(result.rate),
            result.requests,
            result.errors,
            *(
                _milliseconds(value)
                for value in (
                    result.p50_ms,
                    result.p95_ms,
                    result.p99_ms,
                    result.max_ms,
                    result.service_p99_ms,
                    result.lag_p99_ms if result.rate is not None else None,
                )
            ),
        ]
        for result in results
    ]
    return _aligned(rows, HEADERS, 3).splitlines()


def _size(one: LoadResult | Knee, among: Sequence[LoadResult | Knee]) -> str:
    """Say how many nodes a request names, and how; the size of a node only where there are several."""
    kib = f" {one.node_kib:g} KiB" if len({other.node_kib for other in among} - {None}) > 1 and one.node_kib else ""
    return f"{one.nodes} {one.wire}{kib}"


def _aligned(rows: Sequence[Sequence[object]], headers: Sequence[str], texts: int) -> str:
    """Return a table whose figures stand at the right; aligned at their points they would need more room."""
    from tabulate import tabulate

    sides = ["left"] * texts + ["right"] * (len(headers) - texts)
    whole = tabulate(rows, headers, tablefmt="simple", disable_numparse=True, colalign=sides)
    width = terminal_width()
    if width is None or widest(whole) <= width:
        return whole
    return compact([[str(cell) for cell in row] for row in rows], headers, [side == "right" for side in sides])


def _floor(results: Sequence[LoadResult]) -> list[str]:
    floors = [result.floor_p50_ms for result in results if result.floor_p50_ms is not None]
    cpu = [result.cpu_ms_per_request for result in results if result.cpu_ms_per_request is not None]
    cut = max((result.warmup_seconds for result in results), default=0.0)
    said = []
    if floors:
        said.append(f"a server that does nothing: p50 {_span(floors)} ms")
    if cpu:
        said.append(f"the extender's CPU: {_span(cpu)} ms per request")
    said.append(f"warm-up of {cut:g} s cut off")
    return wrapped("; ".join(said))


def _notes(results: Sequence[LoadResult]) -> list[str]:
    seen: dict[str, list[str]] = {}
    for result in results:
        where = f"{result.verb} {_size(result, results)}"
        kinds = ", ".join(f"{count} {kind}" for kind, count in result.error_kinds.items())
        codes = ", ".join(f"{count} with {code}" for code, count in result.statuses.items() if code != "200")
        failures = [f"failed: {kinds}" + (f" ({codes})" if codes else "")] if kinds else []
        for note in (*failures, *result.notes):
            seen.setdefault(note, []).append(where)
    lines = []
    for note, places in seen.items():
        distinct = list(dict.fromkeys(places))
        where = distinct[0] if len(distinct) == 1 else f"{len(places)} results"
        lines += wrapped(f"{where}: {note}")
    return lines


def knee_table(knees: Sequence[Knee]) -> str:
    """Return what searches for the knee found."""
    rows = [
        [
            shortened(knee.subject, NAME_CHARACTERS_MAX),
            knee.verb,
            _size(knee, knees),
            f"{knee.budget_ms:g} ms",
            f"{knee.rate:.0f} requests/s" if knee.rate else "none",
            knee.limited_by,
            f"{knee.pods_per_second:.0f}" if knee.pods_per_second else "-",
        ]
        for knee in knees
    ]
    told = [
        f"{knee.verb} {_size(knee, knees)}: {knee.rate:.0f} requests/s are {knee.rate_in_pods:.0f} pods/s of many "
        f"schedulers" + (f"; p99 there is of {knee.requests} requests" if knee.requests else "")
        for knee in knees
        if knee.rate
    ]
    told.append("pods/s: what one scheduler could reach, by the mean of its calls one after the other")
    return "\n".join([fitted(rows, KNEE_HEADERS, ()), *(line for text in told for line in wrapped(text))])


def in_situ_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what schedulers waited for in a real run."""
    cells = [
        [
            shortened(row["subject"], NAME_CHARACTERS_MAX),
            row["verb"],
            "-" if row["nodes"] is None else row["nodes"],
            row["calls"],
            row["failed"],
            *(_milliseconds(row[key]) for key in ("p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms")),
        ]
        for row in rows
    ]
    told = f"in situ, in milliseconds at the tap of {rows[0]['record']}"
    return f"{told}\n{_aligned(cells, IN_SITU_HEADERS, 2)}"


def shortened(text: str, most: int = SUBJECT_CHARACTERS_MAX) -> str:
    """Return a text with its middle left out if it is too long."""
    return text if len(text) <= most else f"{text[: most // 2 - 1]}…{text[-(most // 2) :]}"


def wrapped(text: str) -> list[str]:
    """Return lines that fit."""
    width = min(WIDTH, terminal_width() or WIDTH)
    return textwrap.wrap(text, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _rate(rate: float) -> str:
    return f"{rate:.0f}/s" if rate >= DIGITS[1][0] else f"{rate:.2g}/s"


def _milliseconds(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.{next(digits for least, digits in DIGITS if value >= least)}f}" if value >= 0 else f"{value:.2f}"


def _span(values: Sequence[float]) -> str:
    low, high = _milliseconds(min(values)), _milliseconds(max(values))
    return low if low == high else f"{low} to {high}"
