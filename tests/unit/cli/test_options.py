import dataclasses
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from harness.cli.options import ClusterChoice, cluster_options
from harness.cluster.base import ClusterSpec, ExistingSpec, KindSpec


def chosen(arguments: list[str]) -> ClusterChoice:
    """Return the choice that a command with these arguments gets."""
    got: list[ClusterChoice] = []

    @click.command()
    @cluster_options
    def command(choice: ClusterChoice) -> None:
        got.append(choice)

    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 0, result.output
    return got[0]


EVERYTHING = ClusterChoice(
    "kind",
    ClusterSpec(
        kubernetes="1.34",
        binaries=Path("/built"),
        name="mine",
        kubeconfig=Path("/home/config"),
        fresh=True,
        kind=KindSpec("node:1", Path("/bin/kind"), Path("more.yaml"), 7, keep=True),
        existing=ExistingSpec("there", allow_cluster_wide=True, kwok_nodes=True, confirmed=True),
    ),
)


def test_the_test_above_leaves_nothing_at_its_default() -> None:
    for spec, plain in (
        (EVERYTHING.spec, ClusterSpec(nodes=-1)),
        (EVERYTHING.spec.kind, KindSpec()),
        (EVERYTHING.spec.existing, ExistingSpec()),
    ):
        for field in dataclasses.fields(spec):
            assert getattr(spec, field.name) != getattr(plain, field.name), field.name


@pytest.mark.parametrize(
    "choice", [ClusterChoice("embedded", ClusterSpec()), EVERYTHING], ids=["nothing", "everything"]
)
def test_arguments_make_the_same_choice_again(choice: ClusterChoice) -> None:
    assert chosen(choice.arguments()) == choice


def test_nothing_that_was_not_chosen_is_spelt() -> None:
    assert chosen([]).arguments() == ["--cluster", "embedded"]


def test_how_many_nodes_are_declared_changes_nothing_else() -> None:
    assert EVERYTHING.for_nodes(9) == dataclasses.replace(
        EVERYTHING, spec=dataclasses.replace(EVERYTHING.spec, nodes=9)
    )
    assert EVERYTHING.for_nodes(9).arguments() == EVERYTHING.arguments()
