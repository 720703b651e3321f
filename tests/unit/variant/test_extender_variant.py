"""The variant with real extenders and taps; the scheduler is a fake that tells the configuration it was given."""

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from harness.errors import ClusterError, InputError, VariantError
from harness.extender.traffic import Connected
from harness.scenario.extenders import ExtenderSpec
from harness.testing import FakeCluster
from harness.testing.cluster import FakeScheduler
from harness.variant.base import Installed, SchedulerConfig, Setup
from harness.variant.config import prove_live, render, scheduler_names
from harness.variant.extender import ExtenderVariant
from tests.unit.extender.asking import answer
from tests.unit.extender.servers import keeps_names, keeps_nodes, serving

LEGACY = Path(__file__).parent / "legacy"
KUBECONFIG = Path("/x/scheduler.kubeconfig")
HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"

Install = Callable[..., contextlib.AbstractContextManager[Installed]]


@pytest.fixture
def cluster(tmp_path: Path) -> FakeCluster:
    folder = tmp_path / "cluster"
    folder.mkdir()
    return FakeCluster(folder)


@pytest.fixture
def install(cluster: FakeCluster, built_tap: None) -> Install:
    def install(
        *brought: str | dict[str, Any], config: SchedulerConfig | str | None = None, **more: Any
    ) -> contextlib.AbstractContextManager[Installed]:
        specs = [one if isinstance(one, dict) else {"subject": one} for one in brought]
        extenders = tuple(map(ExtenderSpec.model_validate, specs))
        found = SchedulerConfig(config, "config.yaml") if isinstance(config, str) else config
        return ExtenderVariant().install(cluster, Setup(extenders, found, **more))

    return install


def config_with(*entries: dict[str, Any], **more: Any) -> str:
    return HEAD + yaml.safe_dump({"extenders": list(entries), **more})


def extenders_of(installed: Installed) -> tuple[Connected, ...]:
    assert installed.traffic
    return installed.traffic.extenders


def entries_of(installed: Installed) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = yaml.safe_load(installed.config)["extenders"]
    return found


def test_the_scheduler_is_told_of_the_tap(install: Install) -> None:
    with install("ref:pass-through") as installed:
        (one,) = extenders_of(installed)
        (entry,) = entries_of(installed)
        assert one.tap
        assert entry["urlPrefix"] == one.tap.url != one.running.url
        assert (entry["filterVerb"], entry["nodeCacheCapable"], entry["weight"]) == ("filter", True, 1)
        assert (installed.variant, installed.notes) == ("extender", ())
        assert list(installed.schedulers) == ["default-scheduler"]


def test_without_a_tap_it_is_told_of_the_extender(install: Install) -> None:
    with install("ref:pass-through", tap=False) as installed:
        assert entries_of(installed)[0]["urlPrefix"] == extenders_of(installed)[0].running.url


def test_nobody_brought_anything_so_one_stands_there_that_changes_nothing(install: Install) -> None:
    with install() as installed:
        (one,) = extenders_of(installed)
        assert (one.name, one.subject) == ("pass-through", "ref:pass-through")


def test_several_stand_in_the_order_in_which_they_were_brought(install: Install) -> None:
    with install("ref:lucky", {"subject": "ref:name-length", "name": "short"}, "ref:lucky") as installed:
        extenders = extenders_of(installed)
        assert [one.name for one in extenders] == ["lucky", "short", "lucky-3"]
        addresses = [one.tap.url for one in extenders if one.tap]
        assert [entry["urlPrefix"] for entry in entries_of(installed)] == addresses


def test_keys_that_were_given_win_over_the_subjects_own(install: Install) -> None:
    with install({"subject": "ref:pass-through", "entry": {"weight": 9, "prioritizeVerb": ""}}) as installed:
        (entry,) = entries_of(installed)
        assert entry["weight"] == 9
        assert "prioritizeVerb" not in entry


def test_an_extender_that_was_brought_stands_in_the_configurations_entry(install: Install) -> None:
    written = {"urlPrefix": "http://localhost:1", "filterVerb": "filter", "weight": 4, "httpTimeout": "2s"}
    written |= {"nodeCacheCapable": True}
    with install({"subject": "ref:pass-through", "entry": {"weight": 6}}, config=config_with(written)) as installed:
        (one,) = extenders_of(installed)
        assert (one.entry.http_timeout, one.entry.weight) == ("2s", 6)
        assert one.entry.url_prefix == one.running.url, "of the address in the configuration nobody can be started"
        assert answer(one)["NodeNames"]


def test_an_entry_that_nobody_brought_anything_for_is_about_one_that_runs(install: Install) -> None:
    with serving({"/s/filter": keeps_names}) as served:
        there = {"urlPrefix": f"{served.url}/s", "filterVerb": "filter", "nodeCacheCapable": True}
        mine = {"urlPrefix": "http://localhost:1", "filterVerb": "filter", "weight": 3}
        with install("ref:lucky", config=config_with(mine, there)) as installed:
            lucky, running = extenders_of(installed)
            assert (lucky.subject, lucky.entry.weight) == ("ref:lucky", 3)
            assert (running.name, running.subject) == ("extender", f"{served.url}/s")
            assert [entry["urlPrefix"] for entry in entries_of(installed)][1].endswith("/s")
            assert len(answer(running)["NodeNames"]) == 8
        with install(config=config_with(there)) as installed:
            assert [one.subject for one in extenders_of(installed)] == [f"{served.url}/s"], "nothing is added to it"


def test_more_extenders_than_entries_get_entries_of_their_own(install: Install) -> None:
    written = {"urlPrefix": "http://localhost:1", "filterVerb": "filter", "weight": 4}
    with install("ref:lucky", "ref:name-length", config=config_with(written)) as installed:
        assert [entry["weight"] for entry in entries_of(installed)] == [4, 1]


def test_an_entry_without_an_address_is_refused(install: Install) -> None:
    with pytest.raises(InputError, match=r"config\.yaml:5: extenders\[1\]: .* a URL such as"):
        install("ref:lucky", config=config_with({"filterVerb": "filter"}, {"filterVerb": "filter"})).__enter__()


def test_an_entry_whose_extender_does_not_run_is_refused(install: Install) -> None:
    with serving({}) as served:
        gone = {"urlPrefix": served.url, "filterVerb": "filter"}
    with pytest.raises(VariantError, match="not reachable"):
        install(config=config_with(gone)).__enter__()


def test_profiles_and_settings_of_the_configuration_reach_the_scheduler(install: Install) -> None:
    profiles = [{"schedulerName": "first"}, {"schedulerName": "second"}]
    with install(config=HEAD + yaml.safe_dump({"profiles": profiles, "parallelism": 3})) as installed:
        document = yaml.safe_load(installed.config)
        assert (document["profiles"], document["parallelism"]) == (profiles, 3)
        assert list(installed.schedulers) == ["first", "second"]
        assert len(set(map(id, installed.schedulers.values()))) == 1
        assert installed.notes == ()


def test_a_legacy_configuration_is_translated_and_that_is_told(install: Install, cluster: FakeCluster) -> None:
    where = LEGACY / "lucky-config.yaml"
    with install("ref:lucky", config=SchedulerConfig(where.read_text(), str(where))) as installed:
        (entry,) = entries_of(installed)
        assert (entry["filterVerb"], entry["prioritizeVerb"]) == ("filter", "prioritize")
        (note,) = installed.notes
        assert note == f'{where}: translated to v1 with 4 changes; "harness translate {where}" shows them'
        client = yaml.safe_load(installed.config)["clientConnection"]
        assert client["kubeconfig"] == str(cluster.scheduler_kubeconfig)


def test_what_a_translation_loses_is_told_one_by_one(install: Install) -> None:
    policy = {"kind": "Policy", "apiVersion": "v1", "alwaysCheckAllPredicates": True}
    with install("ref:lucky", config=json.dumps(policy, indent=0)) as installed:
        translated, lost = installed.notes
        assert "translated to v1" in translated
        assert lost.startswith("config.yaml:4: the first plugin that rejects a node ends its filtering")


def test_a_policy_that_is_not_there_is_told(install: Install, tmp_path: Path) -> None:
    text = (LEGACY / "lucky-config.yaml").read_text()
    with pytest.raises(InputError, match=r'lonely\.yaml:7: .*Policy file "/etc/kubernetes/lucky-policy\.json"'):
        install("ref:lucky", config=SchedulerConfig(text, str(tmp_path / "lonely.yaml"))).__enter__()


def test_a_configuration_that_is_none_is_told_with_its_line(install: Install) -> None:
    with pytest.raises(InputError, match=r"config\.yaml:3"):
        install("ref:lucky", config=HEAD + "profiless: []\n").__enter__()


def test_what_was_found_out_about_an_extender_is_told_with_its_name(install: Install) -> None:
    with serving({"/predicates": keeps_nodes}) as served, install(served.url) as installed:
        (note,) = installed.notes
        assert note.startswith("extender extender: found out by asking it: ")
    with install({"subject": "ref:index-bind-misrouted", "name": "astray"}) as installed:
        (note,) = installed.notes
        assert note.startswith("extender astray: ")
        assert "/priority does answer" in note


def test_everything_ends_with_the_context(install: Install) -> None:
    with install("ref:pass-through") as installed:
        (one,) = extenders_of(installed)
        assert one.tap
        assert one.tap.alive
        assert one.running.alive
    assert not one.tap.alive
    assert not one.running.alive
    with pytest.raises(ClusterError):
        installed.schedulers["default-scheduler"].page("/healthz")


def test_a_cluster_that_runs_no_scheduler_is_refused() -> None:
    real: Any = SimpleNamespace(name="somewhere")
    with pytest.raises(VariantError, match='cluster "somewhere" cannot run a scheduler process'):
        ExtenderVariant().install(real).__enter__()


def test_a_scheduler_that_does_not_start_is_told_with_its_configuration(
    install: Install, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def refuse(self: FakeCluster, *_: Any, **__: Any) -> Iterator[FakeScheduler]:
        raise ClusterError("kube-scheduler exited with code 1: strict decoding error")
        yield

    monkeypatch.setattr(FakeCluster, "scheduler", refuse)
    with pytest.raises(VariantError, match=r"^kube-scheduler does not start\.\nIts configuration:") as caught:
        install("ref:pass-through").__enter__()
    assert "urlPrefix: http://127.0.0.1:" in str(caught.value)
    assert "strict decoding error" in str(caught.value)


class Told:
    """A scheduler that tells a configuration."""

    log = Path("/x/scheduler.log")
    config = ""

    def __init__(self, configuration: Any) -> None:
        self.configuration = configuration

    def cpu_seconds(self) -> float | None:
        return None

    def page(self, _: str) -> str:
        return json.dumps({"componentconfig": self.configuration})


def lowered(value: Any, spell: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {spell(key): lowered(part, spell) for key, part in value.items()}
    return [lowered(part, spell) for part in value] if isinstance(value, list) else value


ENTRIES = [{"urlPrefix": "http://a", "filterVerb": "f"}, {"urlPrefix": "http://b", "filterVerb": "f"}]


def test_entries_and_settings_are_rendered_but_what_is_ours_stays_ours() -> None:
    settings = {
        "clientConnection": {"kubeconfig": "/theirs", "qps": 5},
        "leaderElection": {"leaderElect": True},
        "parallelism": 3,
        "extenders": [{"urlPrefix": "http://theirs"}],
    }
    document = yaml.safe_load(render(KUBECONFIG, ENTRIES, settings))
    assert document["clientConnection"] == {"kubeconfig": str(KUBECONFIG), "qps": -1, "burst": 0}
    assert document["leaderElection"] == {"leaderElect": False}
    assert (document["parallelism"], document["extenders"]) == (3, ENTRIES)
    assert "extenders" not in yaml.safe_load(render(KUBECONFIG))


def test_a_profile_without_a_name_has_the_usual_one() -> None:
    profiles: list[dict[str, Any]] = [{}, {"schedulerName": "mine"}]
    assert scheduler_names(render(KUBECONFIG, settings={"profiles": profiles})) == ["default-scheduler", "mine"]


@pytest.mark.parametrize("spell", [str, str.lower, lambda key: key[0].upper() + key[1:]])
def test_extenders_that_are_live_are_proven_however_they_are_spelt(spell: Callable[[str], str]) -> None:
    config = render(KUBECONFIG, ENTRIES)
    prove_live(Told(lowered(yaml.safe_load(config), spell)), config)


@pytest.mark.parametrize(
    "live",
    [None, [], ENTRIES[:1], ENTRIES[::-1], [*ENTRIES, ENTRIES[0]], [{"urlPrefix": "http://c"}, ENTRIES[1]]],
    ids=["null", "none", "fewer", "swapped", "more", "other"],
)
def test_extenders_that_are_not_live_as_rendered_are_no_proof(live: Any) -> None:
    config = render(KUBECONFIG, ENTRIES)
    answered = Told({**yaml.safe_load(config), "extenders": live})
    with pytest.raises(VariantError, match=r"runs the extenders \[.*\], \['http://a', 'http://b'\] expected.*its log"):
        prove_live(answered, config)


def test_an_extender_that_nobody_rendered_is_no_proof() -> None:
    config = render(KUBECONFIG)
    with pytest.raises(VariantError, match=r"runs the extenders \['http://a', 'http://b'\], \[\] expected"):
        prove_live(Told({**yaml.safe_load(config), "extenders": ENTRIES}), config)
