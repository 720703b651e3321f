"""Whatever the harness puts into records in words has a Chinese form: read from the code that writes it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

import harness
from harness.expect import moves
from harness.expect.finding import MOVES, SEVERITIES
from harness.extender.reply import notices
from harness.load.lean import ENDINGS
from harness.load.samples import OUTCOMES
from harness.record import pulling
from harness.record.call import Notice
from harness.record.pulling import PullTrouble
from harness.report.words.forms import Form
from harness.report.words.phrases import phrases_of

HARNESS = Path(harness.__file__).parent
PHRASES = phrases_of("zh")
WRITERS = (
    "expect/*.py",
    "extender/reply/notices.py",
    "extender/subject/probe.py",
    "extender/cassette/bodies.py",
    "extender/cassette/finalize.py",
    "extender/injected.py",
    "extender/recording.py",
    "extender/traffic.py",
    "cluster/existing/nodes.py",
    "cluster/kind/kubelet.py",
    "load/measure.py",
    "load/saturation.py",
    "load/generate.py",
    "load/session.py",
    "load/insitu.py",
    "load/regress/duet.py",
    "load/regress/decide.py",
    "load/regress/cpu.py",
    "observe/live.py",
    "record/pulling.py",
    "record/salvage.py",
    "report/doubt.py",
    "run/execute.py",
    "run/extender_steps.py",
    "run/keep.py",
    "run/settle.py",
)
# What Kubernetes says, known by patterns, and what is said elsewhere than in records.
FOREIGN = frozenset({"expect/explain.py"})
NO_RECORD = frozenset(
    {
        "no nodes available",
        "Too many pods",
        "What extenders said",
        "What plugins did",
        "What could help",
        "What was seen until then",
        "The scenario of this record cannot be read",
        "gzip: invalid header",
        "gzip: invalid checksum",
        "flate: corrupt input",
        "s of about",
        'Verb to "/',
    }
)
NO_SENTENCES = ("re.compile", "wait_until", "spawn")
WORDS_MIN = 3
_HOLE = re.compile(r"\{\w+(?::\w+)?\}")
_OPTIONAL = re.compile(r"<([^<>]*)>")
_TRIM = ' ,;:.()"'


def _forms() -> list[Form]:
    return [*PHRASES._anywhere, *(one for forms in PHRASES._by_word.values() for one in forms)]


def _english() -> str:
    """Return all that forms say, with a mark where a hole is."""
    shorter = (_OPTIONAL.sub("", one.english) for one in _forms())
    longer = (_OPTIONAL.sub(r"\1", one.english) for one in _forms())
    return "\n".join(_HOLE.sub("\0", text) for text in (*shorter, *longer))


def _literals(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that may come into a record: no docstring, no error, no pattern."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    skipped = set()
    for node in ast.walk(tree):
        is_call = isinstance(node, ast.Call) and ast.unparse(node.func) in NO_SENTENCES
        if isinstance(node, ast.Raise) or is_call or (isinstance(node, ast.Expr) and _is_text(node.value)):
            skipped |= {id(part) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _unknown(file: Path, english: str) -> Iterator[str]:
    for line, text in _literals(file):
        for clause in text.replace("generator-limited: ", "").split("; "):
            said = clause.strip(_TRIM)
            meant = len(said.split()) >= WORDS_MIN and said not in NO_RECORD and "|" not in said
            if meant and said not in english and PHRASES.said(said).unknown:
                yield f"{file.relative_to(HARNESS)}:{line}: {clause}"


def test_every_sentence_of_the_code_has_a_form() -> None:
    english = _english()
    files = [file for pattern in WRITERS for file in sorted(HARNESS.glob(pattern))]
    assert len(files) > len(WRITERS), "the list above is out of date"
    found = [
        line for file in files if str(file.relative_to(HARNESS)) not in FOREIGN for line in _unknown(file, english)
    ]
    # Patterns of what others say stand in a table there.
    signs = [sign for sign, _ in pulling._PROBLEMS]
    assert [line for line in found if not any(sign in line for sign in signs)] == []


def test_every_scenario_that_comes_with_the_harness_can_be_told() -> None:
    files = (HARNESS.parent / "scenarios").rglob("*.yaml")
    texts = [one for file in files for one in yaml.safe_load_all(file.read_text(encoding="utf-8"))]
    summaries = [text["summary"] for text in texts if isinstance(text, dict) and "summary" in text]
    assert len(summaries) > 100
    assert [summary for summary in summaries if PHRASES.said(summary).unknown] == []


@pytest.mark.parametrize("table", [MOVES, moves._GENERAL, notices._CONSEQUENCES], ids=["moves", "help", "does"])
def test_every_word_of_the_tables_has_a_form(table: dict[str, str]) -> None:
    assert {key: text for key, text in table.items() if PHRASES.said(text).unknown} == {}


def test_how_requests_fail_has_a_form() -> None:
    assert [text for text in (*OUTCOMES, *ENDINGS.values()) if PHRASES.said(text).unknown] == []


def test_every_code_is_known_as_one() -> None:
    for code in SEVERITIES:
        assert PHRASES.said(code).text == code
        assert not PHRASES.said(code).unknown


def _every_notice() -> Iterator[Notice]:
    node = {"metadata": {"name": "n1", "labels": {"a": "b"}}, "spec": {"x": 1}}
    for kind in notices._CONSEQUENCES:
        yield notices.not_found(kind, "http://127.0.0.1:8888/filter", 404)
        yield notices.bad_status(kind, "http://127.0.0.1:8888/filter", 500)
        yield notices.bad_reply(kind, "unexpected end of JSON input")
        for status, location in ((301, "/there"), (307, "/there"), (302, None)):
            yield notices.redirect(kind, status, location)
        yield from notices.unknown_keys(
            kind, {"node_names": 1, "odd; one": 2, "result": {"NodeNames": []}}, ["NodeNames"]
        )
    yield from notices.unknown_keys("preempt", {"NodeNameToVictims": {}}, ["NodeNameToMetaVictims"])
    for by_name in (True, False):
        yield from notices.kept_nodes(["n1", "n1", "ghost"], {"n1": node}, {"n1": "no", "far": "no"}, by_name=by_name)
    yield from notices.dropped([f"n{number}" for number in range(9)])
    yield notices.nothing_kept(["n1", "n2"])
    yield notices.reply_ignored(["n1", "n2"])
    yield notices.unexpected_mode()
    yield from notices.changed_nodes({"n1": node}, {"n1": {**node, "spec": {"x": 2}}})
    yield from notices.texts({"n1": "", "n2": "90% full; sorry"})
    yield from notices.scores([("n1", 100), ("n1", -1), ("ghost", 3)], {"n1": node, "n2": node}, 2)
    yield notices.null_victims(["n1"])
    for ignorable in (True, False):
        yield notices.empty_victims(["n1", "n2"], ignorable=ignorable)
    yield from notices.foreign_victims({"n1": ["u1"], "n2": []}, {"n1": []})


def test_every_notice_has_a_form_alone_and_in_a_finding() -> None:
    every = list(_every_notice())
    codes = {notice.code for notice in every}
    single = set(MOVES) & codes
    assert single == set(MOVES), "a notice is missing above"
    for notice in every:
        finding = f"extender mine: {notice.text}, and so in 3 calls about web-1, web-2; {MOVES[notice.code]}"
        assert PHRASES.said(notice.text).unknown == (), notice.text
        assert PHRASES.said(finding).unknown == (), finding


def test_every_trouble_with_an_image_has_a_form() -> None:
    problems = [*(problem for _, problem in pulling._PROBLEMS), pulling.UNKNOWN]
    for problem in problems:
        for provider in ("kind", "existing"):
            for image in ("busybox", "registry.example/team/app:1"):
                trouble = PullTrouble(image, problem, "mirror.example")
                sentence = f"2 pods (web-1, web-2) wait for {trouble.sentence(provider)}"
                assert PHRASES.said(sentence).unknown == (), sentence
