"""How a translation is written down."""

import pytest

from harness.scenario import positions
from harness.variant.legacy.extenders import go_duration
from tests.unit.variant.test_legacy import FIXTURES, NAMES, V1, of, translated

BETA2 = f"""\
# KubeSchedulerConfiguration v1, translated from v1beta2 by harness translate.
apiVersion: {V1}  # converted: line 1: apiVersion: was kubescheduler.config.k8s.io/v1beta2
kind: KubeSchedulerConfiguration
# default: line 4: profiles[0]: default weights of score plugins grew from 1: TaintToleration 3, InterPodAffinity 2
profiles:
- schedulerName: default-scheduler
  plugins:
    # dropped: line 6: profiles[0].plugins.score.disabled[0]: NodePreferAvoidPods is gone, so that there is nothing to
    #   disable
    score:
      enabled:
      - name: NodeAffinity
        weight: 5
"""


def test_a_comment_stands_behind_its_line_if_it_fits_and_above_if_not() -> None:
    assert translated("beta2.yaml").text == BETA2


def test_a_text_with_more_than_one_document_is_written_anew() -> None:
    text = (FIXTURES / "v1.yaml").read_text()
    new = of(f"{text}---\nkind: Policy\n").text
    assert "Policy" not in new
    assert of(new).config == of(text).config


@pytest.mark.parametrize("name", NAMES)
def test_the_text_says_what_the_configuration_says(name: str) -> None:
    translation = translated(name)
    (document,), problems = positions.read(translation.text, name)
    assert not problems
    assert document.data == translation.config
    assert document.data["apiVersion"] == V1


@pytest.mark.parametrize("name", NAMES)
def test_a_translation_needs_no_other(name: str) -> None:
    once = translated(name)
    again = of(once.text)
    assert again.changes == ()
    assert again.text == once.text


@pytest.mark.parametrize("name", NAMES)
def test_every_change_has_its_line_and_its_comment(name: str) -> None:
    translation = translated(name)
    told = " ".join(line.partition("#")[2].strip() for line in translation.text.splitlines())
    for change in translation.changes:
        path = FIXTURES / change.file
        key = change.path.rpartition(".")[2].partition("[")[0]
        line = path.read_text().splitlines()[change.line - 1]
        assert not key or "[" in change.path.rpartition(".")[2] or key in line, change
        assert " ".join(change.text.split()) in told, change


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (5_000_000_000, "5s"),
        (1_500_000_000, "1.5s"),
        (100_000_000, "100ms"),
        (1_250_000, "1.25ms"),
        (30, "30ns"),
        (1_001, "1.001µs"),
        (60_000_000_000, "1m0s"),
        (5_405_000_000_000, "1h30m5s"),
        (-2_000_000_000, "-2s"),
    ],
)
def test_durations_are_written_as_go_writes_them(nanoseconds: int, text: str) -> None:
    assert go_duration(nanoseconds) == text
