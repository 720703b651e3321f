import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.load import exit_code
from harness.cli.main import main
from harness.load.generate import Scale
from harness.record.load import LoadRecord
from harness.report.load import load_text
from tests.unit.load.given import ENTRY, trouble
from tests.unit.load.test_record import RESULT

# What programs read; a name that goes away breaks them.
FIELDS = [
    *("subject", "verb", "nodes", "wire", "model", "rate", "requests", "errors"),
    *("p50_ms", "p90_ms", "p95_ms", "p99_ms", "max_ms", "service_p99_ms", "lag_p99_ms", "generator_limited"),
]


def harness(*arguments: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["load", *arguments])
    return int(left.value.code or 0)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["http://192.0.2.1:80"], "192.0.2.1 is not this machine"),
        (["http://example.com"], "--allow-remote"),
        (["http://127.0.0.1:9", "--master", "--worker", "127.0.0.1"], "one of them"),
        (["http://127.0.0.1:9", "--worker", "192.0.2.1"], "say --allow-remote"),
        (["ref:pass-through", "--master"], "runs already"),
        (["http://127.0.0.1:9", "--bind", "127.0.0.1"], "where a --master listens"),
        (["http://127.0.0.1:9", "--master", "--bind", "192.0.2.1"], "say --allow-remote"),
        (["image:x", "--pods", "2", "--processes", "2"], "leave --processes"),
        (["image:x", "ref:pass-through", "--pods", "2"], "one subject"),
        (["ref:pass-through", "--pods", "2"], "pods load an image"),
        (["ref:pass-through", "--keep-cluster"], "the cluster of --pods"),
        (["ref:pass-through", "--rate", "60000"], "at most 50000"),
        (["ref:pass-through", "--rate", "50000", "--duration", "500"], "at most 5000000"),
        (["ref:pass-through", "--duration", "601"], "at most 600 s"),
        (["ref:pass-through", "--closed", "513"], "1 to 512"),
        (["ref:pass-through", "--processes", "0"], "1 to 64"),
        (["ref:pass-through", "--rate", "5", "--closed", "1"], "open or closed"),
        (["ref:pass-through", "--schedule", "ramp"], "say its --rate"),
        (["ref:pass-through", "--knee", "--rate", "5"], "looks for the rate"),
        (["ref:pass-through", "--verb", "score"], "or cycle expected"),
        (["ref:pass-through", "--cassette", "nothing-there"], "no record seen"),
        (["ref:pass-through", "--in-situ", "nothing-there"], "no record seen"),
        (["ref:pass-through", "--nodes-of", "nothing-there"], "no cluster of that name"),
        (["ref:pass-trough"], "did you mean"),
        (["ref:pass-through", "--knee", "--duration", "5"], "leave --duration out"),
        (["ref:pass-through", "--knee", "--warmup", "1", "--schedule", "constant"], "--schedule and --warmup out"),
        (["ref:pass-through", "--knee", "--schedule", "ramp"], "its own times and schedule"),
        (["ref:pass-through", "--order", "o"], "start it yourself"),
        (["http://127.0.0.1:9", "--order", "o", "--knee"], "measured once"),
        (["http://127.0.0.1:9", "--order", "o", "--processes", "2"], "by one process"),
        (["ref:pass-through", "--node-kib", "nan"], "a finite number expected"),
        (["ref:pass-through", "--budget", "inf"], "a finite number expected"),
        (["ref:pass-through", "--budget", "5"], "--budget: about the search for a knee"),
        (["ref:pass-through", "--knee-seconds", "5", "--budget", "5"], "--budget and --knee-seconds: about the search"),
        (["http://127.0.0.1:9", "--master", "--node-kib", "2", "--node-kib", "8"], "measure once"),
    ],
)
def test_bad_input_is_refused_before_anything_starts(
    arguments: list[str], why: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert harness(*arguments, "--out", str(tmp_path / "out")) == 2
    assert why in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_subject_that_nobody_answers_for_is_infrastructure(capsys: pytest.CaptureFixture[str]) -> None:
    assert harness("http://127.0.0.1:9") == 3
    assert "connection refused" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "host"),
    [
        (["--master"], "127.0.0.1"),
        (["--master", "--allow-remote"], "*"),
        (["--master", "--allow-remote", "--bind", "192.0.2.9"], "192.0.2.9"),
        (["--worker", "192.0.2.9", "--allow-remote"], "192.0.2.9"),
    ],
)
def test_a_master_listens_to_others_only_where_that_is_allowed(
    options: list[str], host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Scale] = []

    def carry_out(subjects: object, options: object, scale: Scale, out: Path, **_: object) -> LoadRecord:
        seen.append(scale)
        return record(RESULT)

    monkeypatch.setattr("harness.cli.load.carry_out", carry_out)
    assert harness("http://127.0.0.1:9", *options) == 0
    assert [scale.host for scale in seen] == [host]


def test_the_json_has_what_programs_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    subject = trouble()
    entry = [word for key, value in ENTRY.items() for word in ("--entry", f"{key}={json.dumps(value).strip(chr(34))}")]
    options = [
        "--nodes",
        "10",
        "--rate",
        "50",
        "--duration",
        "0.5",
        "--warmup",
        "0.1",
        "--json",
        "--out",
        str(tmp_path),
    ]
    assert harness(subject.text, *entry, *options) == 0
    document = json.loads(capsys.readouterr().out)
    (result,) = document["results"]
    assert [key for key in result if key in FIELDS] == FIELDS
    assert (result["verb"], result["nodes"], result["wire"], result["model"]) == ("filter", 10, "names", "open")
    assert (result["rate"], result["errors"]) == (50.0, 0)
    assert result["requests"] + result["warmup_cut"] + result["unsent"] == 30
    assert (Path(document["record"]) / "load.json").is_file()


def record(*results: object, status: str = "complete") -> LoadRecord:
    return LoadRecord(Path("r"), {"status": status, "warnings": []}, tuple(results))  # type: ignore[arg-type]


def test_exit_codes_say_what_happened() -> None:
    assert exit_code(record(RESULT)) == 0
    assert exit_code(record(replace(RESULT, errors=1))) == 1
    assert exit_code(record(replace(RESULT, ended="died"))) == 1
    assert exit_code(record(replace(RESULT, ended="generator-failed"))) == 3
    assert exit_code(record(replace(RESULT, requests=0))) == 3
    assert exit_code(record()) == 3
    assert exit_code(record(RESULT, status="interrupted")) == 130


def test_what_the_generator_limited_never_stands_among_the_extenders_figures() -> None:
    limited = replace(RESULT, verb="prioritize", generator_limited=True, notes=("generator-limited: why",))
    text = load_text(record(RESULT, limited))
    before, _, after = text.partition("limited by the generator, so not figures of the extender:")
    assert "filter" in before
    assert "prioritize" not in before
    assert "prioritize" in after


def test_the_text_fits_a_hundred_columns() -> None:
    wide = replace(
        RESULT,
        subject="cmd:" + "x" * 200,
        verb="prioritize",
        nodes=5000,
        wire="objects",
        rate=50_000.0,
        requests=5_000_000,
        errors=999_999,
        p50_ms=5012.3,
        p95_ms=5012.3,
        p99_ms=5012.3,
        max_ms=5012.3,
        service_p99_ms=5012.3,
        lag_p99_ms=5012.3,
        notes=("a note of many words " * 20,),
    )
    text = load_text(record(wide, replace(wide, generator_limited=True)))
    assert max(map(len, text.splitlines())) <= 100
