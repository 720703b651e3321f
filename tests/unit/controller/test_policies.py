from collections import Counter
from dataclasses import replace

import pytest

from harness.controller.policies import POLICIES, LeastLoaded, PreferLabel, Random, policy
from harness.errors import InputError
from tests.unit.controller.given import pod, room

ROOMS = [room(f"node-{number}") for number in range(10)]


def test_random_is_a_function_of_seed_pod_and_candidates() -> None:
    picks = [Random(1).pick(pod(f"pod-{number}"), ROOMS).name for number in range(50)]
    assert [Random(1).pick(pod(f"pod-{number}"), ROOMS[::-1]).name for number in range(50)] == picks
    assert [Random(2).pick(pod(f"pod-{number}"), ROOMS).name for number in range(50)] != picks
    assert len(set(picks)) > 5


def test_random_draws_every_node_about_as_often() -> None:
    drawn = Counter(Random(0).pick(pod(f"pod-{number}"), ROOMS).name for number in range(2000))
    assert len(drawn) == 10
    # Six standard deviations around 200; the draws are fixed, so this cannot fail by chance.
    assert all(120 < count < 280 for count in drawn.values())


def test_random_does_not_care_about_nodes_that_it_would_not_have_drawn() -> None:
    drawn = Random(0).pick(pod(), ROOMS)
    assert Random(0).pick(pod(), [one for one in ROOMS if one is drawn or one.name < "node-5"]) is drawn


def test_least_loaded_takes_the_emptiest_and_the_first_of_equals() -> None:
    rooms = [room("c", {"cpu": "1"}), room("b"), room("a")]
    assert LeastLoaded().pick(pod(), rooms).name == "a"
    rooms[2].taken["cpu"] = 1
    assert LeastLoaded().pick(pod(), rooms).name == "b"


def test_pods_without_requests_are_load_too() -> None:
    assert LeastLoaded().pick(pod(), [room("a", {"pods": "1"}), room("b")]).name == "b"


def test_a_label_without_a_value_means_the_pods_own() -> None:
    rooms = [room("x", labels={"disk": "hdd"}), room("y", labels={"disk": "ssd"})]
    assert PreferLabel("disk").pick(replace(pod(), labels={"disk": "ssd"}), rooms).name == "y"
    assert PreferLabel("disk").pick(pod(), rooms).name == "x", "without the label it prefers nothing"


def test_prefer_label_prefers_then_spares() -> None:
    rooms = [
        room("a"),
        room("b", {"cpu": "2"}, labels={"disk": "ssd"}),
        room("c", {"cpu": "1"}, labels={"disk": "ssd"}),
        room("d", labels={"disk": "hdd"}),
    ]
    chosen = PreferLabel("disk=ssd")
    assert chosen.pick(pod(), rooms).name == "c"
    assert chosen.pick(pod(), rooms[:2]).name == "b"
    assert chosen.pick(pod(), [rooms[3], rooms[0]]).name == "a"
    assert PreferLabel("disk=").pick(pod(), [rooms[0], room("z", labels={"disk": ""})]).name == "z"


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("least-laoded", {}, '"least-loaded" is near; there are: random, least-loaded, prefer-label'),
        ("", {}, "there are: random"),
        ("random", {"label": "a=b"}, "policy random takes no options"),
        ("prefer-label", {}, "needs --option label=KEY=VALUE"),
        ("prefer-label", {"label": "=ssd"}, "KEY or KEY=VALUE expected"),
        ("prefer-label", {"label": "a=b", "weight": "1"}, "--option weight: policy prefer-label takes label"),
    ],
)
def test_what_cannot_be_made_is_told(name: str, options: dict[str, str], said: str) -> None:
    with pytest.raises(InputError) as error:
        policy(name, 0, options)
    assert said in str(error.value)


def test_each_can_be_made_and_picks() -> None:
    for name in POLICIES:
        made = policy(name, 7, {"label": "a=b"} if name == "prefer-label" else {})
        assert made.pick(pod(), ROOMS) in ROOMS
