"""What there is to say about loads beside their figures: what went wrong, and how they were made. Pure."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.record.load import LoadRecord, LoadResult
from harness.report.document import Block, Callout, Code, Facts, Fold
from harness.report.sections.load_names import closed_text, number, result_title
from harness.report.sections.load_samples import Unread
from harness.report.words import Words

PLACES_NAMED_MAX = 3
KINDS_KNOWN = (
    *("status", "reply-error", "refused", "unreachable", "reset", "cut", "not-http"),
    *("timeout", "unanswered", "overflow", "no-descriptors", "no-tls"),
)
ENDINGS_BAD = ("died", "gone")
ENDINGS_KNOWN = (*ENDINGS_BAD, "interrupted", "deadline", "worker-lost", "generator-failed")
Pair = tuple[LoadRecord, LoadResult]


def callouts(records: Sequence[LoadRecord], unread: Sequence[Unread], words: Words) -> list[Block]:
    """Return what nobody should overlook, the worst first; what many results say alike is said once."""
    pairs = [(record, result) for record in records for result in record.results]
    # A search for the knee goes where requests fail: that is no news.
    wrong = [(pair, text) for pair in pairs for text in failures(pair, words)]
    bad = _gathered([(pair, text) for pair, text in wrong if not pair[0].knees or pair[1].ended in ENDINGS_BAD], words)
    meant = _gathered(
        [(pair, text) for pair, text in wrong if pair[0].knees and pair[1].ended not in ENDINGS_BAD], words
    )
    # Why the generator was the limit is said where those results stand.
    notes = _gathered(
        (
            (pair, words.phrase(note))
            for pair in pairs
            for note in pair[1].notes
            if not note.startswith("generator-limited")
        ),
        words,
    )
    warnings = [words.phrase(str(text)) for record in records for text in record.meta.get("warnings") or ()]
    warnings += [
        words("load.unread", record=one.record.path.name, file=one.file or "-", count=len(one.results))
        for one in unread
    ]
    for record in records:
        if not record.results:
            warnings.append(words("load.nothing", record=record.path.name))
        if (status := record.meta.get("status")) not in ("complete", None):
            warnings.append(words("load.early", record=record.path.name, status=_ended(str(status), words)))
    return [
        *(Callout("bad", text) for text in bad),
        *(Callout("warning", text) for text in dict.fromkeys(warnings)),
        *(Callout("info", text) for text in (*meant, *notes)),
    ]


def failures(pair: Pair, words: Words) -> list[str]:
    """Say how requests failed, and what ended the load; nothing if all went well."""
    _, result = pair
    told = []
    if result.errors:
        kinds = [
            words("load.failure", count=count, kind=kind, means=words(f"load.failure.{kind}"))
            if kind in KINDS_KNOWN
            else f"{count} {kind}"
            for kind, count in result.error_kinds.items()
        ]
        codes = [
            words("load.status", count=count, code=code) for code, count in result.statuses.items() if code != "200"
        ]
        why = words("load.join").join([*kinds, *codes]) or "-"
        told.append(words("load.failed", errors=result.errors, requests=result.requests, why=why))
    if result.ended in ENDINGS_BAD:
        told.append(words("load.ended", ended=_ended(result.ended, words)))
    return told


def limits(pairs: Sequence[Pair], words: Words) -> list[str]:
    """Say why the generator was the limit."""
    said = (
        (pair, words.phrase(note)) for pair in pairs for note in pair[1].notes if note.startswith("generator-limited")
    )
    return _gathered(said, words)


def method(record: LoadRecord, words: Words) -> Fold:
    """Say how a load was made, with what, and where its raw samples are."""
    facts = [(words(f"load.fact.{key}"), text) for key, text in _facts(record, words) if text]
    blocks: list[Block] = [Facts(tuple(facts))]
    command = record.meta.get("command")
    if isinstance(command, list) and command:
        # Where the program lies is nobody's business.
        typed = [Path(str(command[0])).name, *map(str, command[1:])]
        blocks.append(Code(shlex.join(typed), "console", words("load.repeat")))
    return Fold(words("load.method", record=record.path.name), tuple(blocks))


def _facts(record: LoadRecord, words: Words) -> list[tuple[str, str]]:
    results = record.results
    machine = _mapping(record.meta.get("machine"))
    versions = _mapping(record.meta.get("versions"))
    inputs = _mapping(record.meta.get("inputs"))
    opened = [result for result in results if result.rate is not None]
    return [
        ("subjects", words("run.list").join(dict.fromkeys(result.subject for result in results))),
        ("model", _model(inputs, results, words)),
        ("bodies", words("run.list").join(_bodies(record, words))),
        ("seed", str(inputs.get("seed", ""))),
        ("measured", _spans([result.seconds for result in results], "s")),
        ("warmup", _warmup(results, words)),
        ("floor", _floor(results, words)),
        ("generator", _generator(inputs, results, words)),
        ("lag", _spans([result.lag_p99_ms for result in opened], "ms")),
        ("cpu", _spans([result.cpu_ms_per_request for result in results], "ms")),
        ("timeout", _spans([result.timeout_seconds for result in results], "s")),
        ("taken", str(record.meta.get("taken_at", ""))),
        ("machine", _machine(machine, words)),
        ("versions", ", ".join(f"{key} {value}" for key, value in versions.items())),
        ("samples", _samples(record, words)),
    ]


def _model(inputs: dict[str, Any], results: Sequence[LoadResult], words: Words) -> str:
    if inputs.get("knee"):
        return words("load.model.knee")
    rates = dict.fromkeys(result.rate for result in results if result.rate is not None)
    if rates:
        asked = ", ".join(f"{rate:g}" for rate in inputs.get("rates") or rates if isinstance(rate, int | float))
        return words("load.model.rates", schedule=inputs.get("schedule", "constant"), rates=asked)
    counts = dict.fromkeys(result.schedulers or 1 for result in results)
    return words("load.join").join(closed_text(count, words) for count in counts)


def _bodies(record: LoadRecord, words: Words) -> list[str]:
    measurements = [one for one in record.meta.get("measurements") or () if isinstance(one, dict)]
    told = ((words.phrase(str(one["corpus"])), one.get("digest", "-")) for one in measurements if "corpus" in one)
    return list(dict.fromkeys(f"{corpus} ({digest})" for corpus, digest in told))


def _machine(machine: dict[str, Any], words: Words) -> str:
    load = machine.get("load")
    told = [str(machine[key]) for key in ("cpu", "architecture") if machine.get(key)]
    told += [words("load.cores", cores=machine["cores"])] if "cores" in machine else []
    told += [words("load.busy", load=number(load))] if isinstance(load, int | float) else []
    return words("load.comma").join(told)


def _samples(record: LoadRecord, words: Words) -> str:
    files = list(dict.fromkeys(one.samples for one in record.results if one.samples))
    if len(files) <= PLACES_NAMED_MAX:
        return ", ".join(f"{record.path.name}/{file}" for file in files)
    first, last = (f"{record.path.name}/{file}" for file in (files[0], files[-1]))
    return words("load.files", count=len(files), first=first, last=last)


def _warmup(results: Sequence[LoadResult], words: Words) -> str:
    cut = sum(result.warmup_cut for result in results)
    return words("load.warmup", seconds=_spans([result.warmup_seconds for result in results], "s") or "0 s", cut=cut)


def _floor(results: Sequence[LoadResult], words: Words) -> str:
    p50, p99 = ([getattr(one, name) for one in results] for name in ("floor_p50_ms", "floor_p99_ms"))
    told = {"p50": _spans(p50, "ms"), "p99": _spans(p99, "ms")}
    return words("load.floor", **told) if told["p50"] else words("load.floor.none")


def _generator(inputs: dict[str, Any], results: Sequence[LoadResult], words: Words) -> str:
    processes = _mapping(inputs.get("scale")).get("processes", 1)
    return words("load.generator", processes=processes, cpu=_spans([100 * one.generator_cpu for one in results], "%"))


def _gathered(said: Iterable[tuple[Pair, str]], words: Words) -> list[str]:
    """Return each text once, after the results that it is about."""
    places: dict[str, list[Pair]] = {}
    for pair, text in said:
        places.setdefault(text, []).append(pair)
    told = []
    for text, pairs in places.items():
        subjects = len({result.subject for _, result in pairs})
        names = list(dict.fromkeys(result_title(result, words) for _, result in pairs))
        where = (
            words("load.results", count=len(pairs))
            if len(names) > PLACES_NAMED_MAX or subjects > 1
            else f"{pairs[0][1].subject}, {words('load.join').join(names)}"
        )
        told.append(words("load.said", where=where, text=text))
    return told


def _spans(values: Sequence[float | None], unit: str) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = number(min(known)), number(max(known))
    return f"{low} {unit}" if low == high else f"{low} \N{EN DASH} {high} {unit}"


def _ended(ended: str, words: Words) -> str:
    return words(f"load.ended.{ended}") if ended in ENDINGS_KNOWN else ended


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
