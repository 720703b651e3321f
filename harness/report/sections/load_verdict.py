"""Whether extenders stood their load: one check per measurement and knee, and all of it in a sentence. Pure."""

from collections.abc import Sequence
from typing import Literal

from harness.record.load import Knee, LoadRecord, LoadResult
from harness.report.document import Check
from harness.report.load import shortened
from harness.report.sections.load_facts import ENDINGS_BAD, failures
from harness.report.sections.load_names import JOINT, number, result_title, size_text
from harness.report.sources import Sources
from harness.report.words import Words

SUBJECTS_NAMED_MAX = 3
EXTENDER = "extender"
# What else ends a search for the knee; a rate that it found is then the least that the extender takes.
LIMITS = ("generator", "bound", "time")
Outcome = Literal["passed", "failed", "unclear"]


def checks(sources: Sources, words: Words) -> tuple[Check, ...]:
    """Return a check for each result and each knee of all loads."""
    made: list[Check] = []
    for record in sources.loads:
        made += [_of_result(record, result, words) for result in record.results]
        made += [_of_knee(record, knee, words) for knee in record.knees]
    return tuple(made)


def sentence(sources: Sources, words: Words) -> tuple[Outcome, str]:
    """Return how the loads went as a whole, and the same in a sentence."""
    subjects: dict[str, list[tuple[LoadRecord, LoadResult]]] = {}
    for record in sources.loads:
        for result in record.results:
            subjects.setdefault(result.subject, []).append((record, result))
    knees = [knee for record in sources.loads for knee in record.knees]
    outcomes = {outcome for record in sources.loads for outcome in _outcomes(record, words)}
    if not subjects:
        return "unclear", words("load.sentence", text=words("load.sentence.nothing"))
    told = [_of_subject(name, own, knees, words) for name, own in list(subjects.items())[:SUBJECTS_NAMED_MAX]]
    if len(subjects) > SUBJECTS_NAMED_MAX:
        told.append(words("load.sentence.more", count=len(subjects) - SUBJECTS_NAMED_MAX))
    outcome: Outcome = "failed" if "failed" in outcomes else "passed" if outcomes == {"passed"} else "unclear"
    return outcome, words("load.sentence", text=words("load.join").join(told))


def _outcomes(record: LoadRecord, words: Words) -> set[str]:
    of_results = {_judged(record, result, words)[0] for result in record.results}
    # Steps of a search go beyond what can be judged on purpose: of them only failures count.
    if record.knees:
        of_results &= {"failed"}
    return of_results | {_of_knee(record, knee, words).outcome for knee in record.knees}


def _of_result(record: LoadRecord, result: LoadResult, words: Words) -> Check:
    outcome, message = _judged(record, result, words)
    names = ("requests", "errors", "p50_ms", "p90_ms", "p99_ms", "max_ms", "service_p99_ms", "lag_p99_ms")
    figures = {name: getattr(result, name) for name in names}
    return Check(
        group=record.path.name,
        name=JOINT.join([result.subject, result_title(result, words)]),
        outcome=outcome,
        message=message,
        detail="\n".join(map(words.phrase, result.notes)),
        seconds=result.seconds,
        facts={name: str(value) for name, value in figures.items() if value is not None},
    )


def _judged(record: LoadRecord, result: LoadResult, words: Words) -> tuple[Literal["passed", "failed", "skipped"], str]:
    told = words("load.join").join(failures((record, result), words))
    # A search for the knee goes where requests fail.
    if result.ended in ENDINGS_BAD or (_errors_of_the_extender(result) and not record.knees):
        return "failed", told
    if result.generator_limited:
        return "skipped", words("load.check.limited")
    if result.ended != "complete" or not result.requests:
        return "skipped", words("load.check.unfinished")
    return "passed", told


def _errors_of_the_extender(result: LoadResult) -> int:
    return result.errors - result.error_kinds.get("no-descriptors", 0)


def _of_knee(record: LoadRecord, knee: Knee, words: Words) -> Check:
    name = JOINT.join([words("load.check.knee"), knee.subject, knee.verb, size_text(knee, words)])
    figures = {"rate_per_s": knee.rate, "pods_per_s": knee.pods_per_second, "budget_ms": knee.budget_ms}
    facts = {**{key: str(value) for key, value in figures.items() if value is not None}, "limited_by": knee.limited_by}
    # Who was not brought to its limit was not judged, however much it took.
    judged: Literal["passed", "failed"] = "passed" if knee.rate else "failed"
    outcome = judged if knee.limited_by == EXTENDER else "skipped"
    return Check(record.path.name, name, outcome, _knee_text(knee, words), facts=facts)


def _knee_text(knee: Knee, words: Words) -> str:
    values = {"rate": number(knee.rate), "budget": number(knee.budget_ms), "verb": knee.verb}
    if not knee.rate:
        return words("load.sentence.knee.none", **values)
    if knee.limited_by != EXTENDER:
        why = words(f"load.knee.least.{knee.limited_by if knee.limited_by in LIMITS else 'other'}")
        return words("load.sentence.knee.least", **values, why=why)
    pods = knee.pods_per_second
    return words("load.sentence.knee.pods" if pods else "load.sentence.knee", **values, pods=number(pods or 0.0))


def _of_subject(name: str, own: Sequence[tuple[LoadRecord, LoadResult]], knees: Sequence[Knee], words: Words) -> str:
    # Steps of a search are told by its knee.
    alone = [result for record, result in own if not record.knees]
    good = [result for result in alone if not result.generator_limited and result.p99_ms is not None]
    told = [_knee_text(knee, words) for knee in knees if knee.subject == name]
    if good:
        p99 = sorted(result.p99_ms for result in good if result.p99_ms is not None)
        key = "load.sentence.p99" if len(good) == 1 else "load.sentence.p99s"
        what = result_title(good[0], words)
        told.append(words(key, what=what, count=len(good), low=number(p99[0]), high=number(p99[-1])))
    if not told:
        told.append(words("load.sentence.limited" if own else "load.sentence.nothing"))
    failed = sum(_errors_of_the_extender(result) for record, result in own if not record.knees)
    if failed:
        told.append(words("load.sentence.failed", errors=failed, requests=sum(result.requests for _, result in own)))
    if ended := next((result.ended for _, result in own if result.ended in ENDINGS_BAD), None):
        told.append(words("load.ended", ended=words(f"load.ended.{ended}")))
    return words("load.said", where=shortened(name), text=words("load.comma").join(told))
