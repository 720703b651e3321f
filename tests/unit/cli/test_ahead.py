"""What could not work is told before a cluster is started for it."""

from pathlib import Path

import pytest

from harness.errors import InputError
from harness.run.brought import bring
from harness.testing import FakeProvider
from harness.variant.ahead import check_ahead
from tests.unit.cli.conftest import Harness
from tests.unit.run.given import write_scenario

IMAGE = "image:team/extender:v1"


@pytest.mark.parametrize("whom", ["extender", "second-scheduler"])
@pytest.mark.parametrize("provider", ["embedded", "existing"])
def test_an_image_is_refused_where_none_can_run(whom: str, provider: str) -> None:
    setup = bring([IMAGE], []).setup(whom, None, seed=0)
    with pytest.raises(InputError, match=f"{IMAGE}: this cluster plays its nodes and runs no containers"):
        check_ahead(whom, setup, provider)
    check_ahead(whom, setup, "kind")


def test_the_command_refuses_an_image_before_it_prepares_anything(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[str] = []
    monkeypatch.setattr("harness.cli.run.make_provider", prepared.append)
    ended = harness("run", write_scenario(tmp_path), "--extender", IMAGE)
    assert ended.code == 2
    assert "runs no containers" in ended.err
    assert prepared == []


def test_an_option_that_a_reference_does_not_know_is_refused(
    harness: Harness, tmp_path: Path, fake_provider: FakeProvider
) -> None:
    ended = harness("run", "--cluster", "fake", write_scenario(tmp_path), "--extender", "ref:want-you?colour=red")
    assert ended.code == 2
    assert "'ref:want-you?colour=red': unknown option 'colour'; known: node" in ended.err
    assert fake_provider.made == []
