import pytest

from harness.cluster.existing import production
from harness.cluster.existing.context import Context
from harness.errors import InputError
from tests.unit.cluster.existing.world import node


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(production.VARIABLE, raising=False)


def context(name: str = "lab", cluster: str = "lab", host: str = "lab.test") -> Context:
    return Context(name, cluster, host, 6443, {})


@pytest.mark.parametrize(
    "looks",
    [
        context("prod"),
        context("eu-PROD-2"),
        context("acme/production"),
        context(cluster="live"),
        context(host="api.prd.acme.test"),
    ],
)
def test_what_looks_like_production_is_refused_unless_it_is_meant(looks: Context) -> None:
    with pytest.raises(InputError, match=r"looks like production: .* If it is meant, say --yes") as caught:
        production.refuse(looks, (), confirmed=False)
    assert "acme.test" not in str(caught.value)
    production.refuse(looks, (), confirmed=True)


@pytest.mark.parametrize("name", ["lab", "preprod", "productive", "delivery", "reproduce", "olive"])
def test_words_that_only_contain_it_are_others(name: str) -> None:
    production.refuse(context(name), (), confirmed=False)


def test_many_machines_of_a_cloud_look_so_too() -> None:
    few = [node(f"n{index}", providerID=f"aws:///i-{index}") for index in range(production.CLOUD_NODES_MAX)]
    production.refuse(context(), few, confirmed=False)
    with pytest.raises(InputError, match="21 of its nodes are machines of a cloud"):
        production.refuse(context(), [*few, node("more", providerID="gce://x/y/z")], confirmed=False)
    local = [node(f"n{index}", providerID=f"kind://docker/kind/n{index}") for index in range(100)]
    production.refuse(context(), local, confirmed=False)


def test_the_words_can_be_others_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(production.VARIABLE, "shop, bank[0-9]+")
    production.refuse(context("prod"), (), confirmed=False)
    with pytest.raises(InputError, match='has "bank'):
        production.refuse(context("eu-bank7"), (), confirmed=False)
    monkeypatch.setenv(production.VARIABLE, "")
    many = [node(f"n{index}", providerID=f"aws:///i-{index}") for index in range(99)]
    production.refuse(context("prod"), many, confirmed=False)
    monkeypatch.setenv(production.VARIABLE, "(")
    with pytest.raises(InputError, match="HARNESS_PRODUCTION: '\\(' is no pattern"):
        production.refuse(context(), (), confirmed=False)
