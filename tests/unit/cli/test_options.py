import dataclasses
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from harness.cli.main import cli
from harness.cli.options import USED_BY, ClusterChoice, Finite, cluster_options, clusters_options
from harness.cluster.base import ClusterSpec, ExistingSpec, KindSpec
from harness.errors import InputError


def chosen(arguments: list[str]) -> ClusterChoice:
    """Return the choice that a command with these arguments gets."""
    got: list[ClusterChoice] = []

    @click.command()
    @cluster_options
    def command(choice: ClusterChoice) -> None:
        got.append(choice)

    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return got[0]


def chosen_together(arguments: list[str]) -> tuple[ClusterChoice, ...]:
    """Return the choices that a command about several clusters gets."""
    got: list[tuple[ClusterChoice, ...]] = []

    @click.command()
    @clusters_options
    def command(choices: tuple[ClusterChoice, ...]) -> None:
        got.append(choices)

    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return got[0]


# No provider of ours uses all of them; one of somebody else's may.
EVERYTHING = ClusterChoice(
    "theirs",
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


VALUES = {"--workers": ["2"]}
FLAGS = {"--keep-cluster", "--allow-cluster-wide", "--kwok-nodes", "--yes"}


def typed(option: str) -> list[str]:
    return [option, *([] if option in FLAGS else VALUES.get(option, ["x"]))]


@pytest.mark.parametrize("option", USED_BY)
@pytest.mark.parametrize("provider", ["embedded", "kind", "existing"])
def test_an_option_of_another_provider_is_refused_with_whose_it_is(option: str, provider: str) -> None:
    arguments = ["--cluster", provider, *typed(option)]
    if provider in USED_BY[option]:
        assert chosen(arguments).provider == provider
        return
    with pytest.raises(InputError) as caught:
        chosen(arguments)
    users = USED_BY[option]
    assert str(caught.value) == (
        f"{option}: is for --cluster {' or '.join(users)}, and {provider} was chosen; "
        f'add "--cluster {users[0]}" or leave it out'
    )


def test_an_option_of_another_provider_is_refused_also_where_nobody_chose_one() -> None:
    with pytest.raises(InputError, match='--context: is for --cluster existing, and embedded was chosen; add "--clu'):
        chosen(["--context", "prod", "--yes"])


def test_of_several_providers_one_has_to_use_an_option() -> None:
    assert len(chosen_together(["--clusters", "embedded,existing", "--context", "lab"])) == 2
    told = "--context: is for --clusters existing, and embedded and kind were chosen; add existing to --clusters or le"
    with pytest.raises(InputError, match=told):
        chosen_together(["--context", "lab"])


def _options(command: click.Command, name: str) -> Iterator[tuple[str, click.Parameter]]:
    """Yield every option of a command and of those below it."""
    yield from ((name, parameter) for parameter in command.params)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            assert below is not None
            yield from _options(below, f"{name} {word}")


def test_no_option_takes_a_number_that_is_none() -> None:
    numbers = [
        (name, one.name, isinstance(one.type, Finite))
        for name, one in _options(cli, "harness")
        if isinstance(one.type, click.types.FloatParamType)
    ]
    assert len(numbers) > 5
    assert [one for one in numbers if not one[2]] == []


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-inf", "1e999"])
def test_what_is_no_finite_number_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match=r"finite number|range"):
        Finite(0).convert(text, None, None)
    assert Finite(0).convert("2.5", None, None) == 2.5
