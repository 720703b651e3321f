"""Judges how extenders were called: how often, with what outcome, and with how much time in between."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from harness.expect.base import Verdict, at, counted, limited, listed, status_of
from harness.expect.matching import described, matching_pods
from harness.record.call import Call
from harness.record.model import PodHistory, Record
from harness.scenario.expectations_extender import Calls
from harness.scenario.words import did_you_mean
from harness.scenario.words import listed as choices

NOT_TAPPED = "no extender was tapped in this run"
_TIMES_SHOWN_MAX = 6
_Groups = list[tuple[PodHistory, list[Call]]]


def calls(expectation: Calls, record: Record, peers: Sequence[Record] = ()) -> Verdict:
    """Judge the calls of one verb; a run without a tap has nothing that could be counted, and is rejected.

    What is demanded of every pod needs a pod, and a gap needs the calls around it: their lack is a rejection.
    """
    title = _title(expectation)
    expected = "; ".join(_demands(expectation))
    trouble = untapped(record, expectation.extender)
    if trouble:
        return Verdict("calls", title, "rejected", expected, "nothing to count", evidence=(trouble,))
    pods = matching_pods(record, selector=expectation.selector, namespace=expectation.namespace, names=expectation.pods)
    alike = [call for call in _about(expectation, record, pods) if _meant(expectation, call)]
    of_pod: dict[str | None, list[Call]] = {}
    for call in alike:
        of_pod.setdefault(call.uid, []).append(call)
    groups = [(pod, of_pod.get(pod.uid, [])) for pod in pods]
    lines = list(_misfits(expectation, groups))
    held = not lines and (expectation.count is None or expectation.count.holds(len(alike)))
    return Verdict(
        kind=expectation.kind,
        title=title,
        status=status_of(held),
        expected=expected,
        seen=f"{counted(len(alike), 'call')} about {counted(len([uid for uid in of_pod if uid]), 'pod')}",
        detail=_outcomes(alike),
        evidence=(*limited(lines), *_other(expectation, record, alike)),
    )


def untapped(record: Record, extender: str | None) -> str | None:
    """Say why nothing is known about calls of an extender, or of any; None if something is."""
    tapped = {one.name for one in record.extenders if one.tapped} | {call.extender for call in record.calls}
    if not tapped:
        return NOT_TAPPED
    if extender is None or extender in tapped:
        return None
    if extender in {one.name for one in record.extenders}:
        return f"extender {extender} was not tapped in this run"
    return f"no extender is called {extender}{did_you_mean(extender, tapped)} extenders: {choices(sorted(tapped))}"


def _about(expectation: Calls, record: Record, pods: Iterable[PodHistory]) -> Iterator[Call]:
    """Yield the calls about the pods; without a choice also those about pods that no watch ever showed."""
    chosen = {pod.uid for pod in pods}
    every = not (expectation.selector or expectation.pods or expectation.namespace)
    for call in record.calls:
        if call.uid in chosen or (every and call.uid not in record.pods_by_uid):
            yield call


def _meant(expectation: Calls, call: Call) -> bool:
    return (
        call.kind == expectation.verb
        and expectation.extender in (None, call.extender)
        and expectation.status in (None, call.status)
        and expectation.ending in (None, call.ending)
        and not (expectation.unfaulted and call.fault)
    )


def _misfits(expectation: Calls, groups: _Groups) -> Iterator[str]:
    """Yield what is wrong with the calls about single pods."""
    if not groups and (expectation.per_pod is not None or expectation.gaps_at_least):
        yield "no pod matched"
    for pod, made in groups:
        if expectation.per_pod is not None and not expectation.per_pod.holds(len(made)):
            times = f" at {listed((at(call.t) for call in made), _TIMES_SHOWN_MAX)}" if made else ""
            yield f"{pod.name}: {counted(len(made), 'call')}{times}"
        if expectation.gaps_at_least:
            yield from _short_gaps(expectation.gaps_at_least, pod, made)


def _short_gaps(wanted: Sequence[float], pod: PodHistory, made: Sequence[Call]) -> Iterator[str]:
    gaps = [later.t - earlier.t for earlier, later in itertools.pairwise(made)]
    if len(gaps) < len(wanted):
        yield f"{pod.name}: {counted(len(made), 'call')}, {len(wanted) + 1} needed for {counted(len(wanted), 'gap')}"
    for number, (gap, least) in enumerate(zip(gaps, wanted, strict=False), start=1):
        if gap < least:
            yield f"{pod.name}: gap {number} is {at(gap)}, at least {at(least)} expected"


def _title(expectation: Calls) -> str:
    whom = f" of {expectation.extender}" if expectation.extender else ""
    pods = described(expectation.selector, expectation.pods, expectation.namespace)
    return f"{expectation.verb} calls{whom} about {pods}"


def _demands(expectation: Calls) -> Iterator[str]:
    like = [f"status {expectation.status}"] if expectation.status is not None else []
    like += [expectation.ending] if expectation.ending is not None else []
    like += ["unfaulted"] if expectation.unfaulted else []
    which = f" ({', '.join(like)})" if like else ""
    if expectation.count is not None:
        yield f"{expectation.count} in all{which}"
    if expectation.per_pod is not None:
        yield f"{expectation.per_pod} per pod{which}"
    if expectation.gaps_at_least:
        yield f"gaps of at least {', '.join(f'{gap:g}' for gap in expectation.gaps_at_least)} s{which}"


def _outcomes(made: Iterable[Call]) -> str:
    """Count how calls ended: `200 x4, 404 x1, aborted x2`."""
    ends = Counter(str(call.status) if call.ending == "answered" else call.ending for call in made)
    return ", ".join(f"{end} x{number}" for end, number in sorted(ends.items()))


def _other(expectation: Calls, record: Record, alike: Sequence[Call]) -> tuple[str, ...]:
    """Say what else the tap saw, so that a missing call can be told from a missing tap."""
    if alike:
        return ()
    kinds = Counter(f"{call.extender} {call.kind or call.path}" for call in record.calls)
    seen = ", ".join(f"{what} x{number}" for what, number in sorted(kinds.items()))
    return (f"all calls of the run: {seen}",) if seen else ("no extender was called at all in this run",)
