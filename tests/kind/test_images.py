"""An extender that is an image runs as a Deployment behind a Service, is tapped, and schedules."""

from pathlib import Path

import pytest

from harness.cluster.kind.image import program_image
from harness.cluster.kind.tools import docker
from harness.errors import VariantError
from harness.expect.judge import judge
from harness.extender.subject.program import program_of
from harness.record.read import read
from harness.run.brought import bring
from harness.run.session import Session
from harness.scenario.load import load

STRANGER = Path(__file__).parents[1] / "subjects" / "stranger"
SCENARIO = """\
name: through-an-image
summary: Pods are scheduled through an extender that runs in the cluster.
nodes: [{count: 2}]
steps: [{op: createPods, count: 4}]
expect:
- {kind: count, running: 4, total: 4}
- {kind: calls, verb: filter, count: {min: 4}, status: 200}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "through-an-image.yaml"
    path.write_text(SCENARIO)
    return path


def test_an_image_is_deployed_tapped_and_called(sched_session: Session, scenario: Path, tmp_path: Path) -> None:
    image = program_image(program_of(STRANGER), tmp_path)
    docker("load", "--input", str(image.archive))
    try:
        subject = tmp_path / "subject.yaml"
        verbs = "entry: {filterVerb: filter, prioritizeVerb: prioritize, weight: 1}"
        subject.write_text(f'subject: "image:{image.reference}"\nenv: {{HOST: 0.0.0.0}}\n{verbs}\n')
        sched_session.brought = bring([str(subject)], [])
        record = read(sched_session.run(load(scenario).at(None), "extender"))
        assert [verdict.sentence() for verdict in judge(record) if not verdict.ok] == []
    finally:
        sched_session.brought = bring([], [])
        docker("image", "rm", image.reference)


def test_an_image_that_is_nowhere_is_told_with_the_ways_out(sched_session: Session, scenario: Path) -> None:
    sched_session.brought = bring(["image:example.invalid/nowhere:1"], ["filterVerb=filter"])
    try:
        with pytest.raises(VariantError, match="neither this machine's docker nor the cluster's nodes have it"):
            sched_session.run(load(scenario).at(None), "extender")
    finally:
        sched_session.brought = bring([], [])
