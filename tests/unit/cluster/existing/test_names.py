import pytest

from harness.cluster.existing.names import Names
from harness.errors import InputError
from tests.unit.cluster.existing.world import NAMES


def test_a_namespace_is_translated_there_and_back() -> None:
    real = NAMES.real("team-a")
    assert real == "h-0123abcd-team-a"
    assert NAMES.is_own(real)
    assert NAMES.shown(real) == "team-a"
    assert NAMES.real(real) == real


def test_what_belongs_to_others_or_to_another_run_is_not_own() -> None:
    assert not NAMES.is_own("default")
    assert not NAMES.is_own(Names("99999999").real("default"))


def test_a_name_that_leaves_no_room_is_refused() -> None:
    NAMES.real("x" * 52)
    with pytest.raises(InputError, match=r'namespace "x+": 53 characters; .* may have 52, because h-0123abcd- goes'):
        NAMES.real("x" * 53)


def test_schedulers_get_names_that_no_pod_of_others_asks_for() -> None:
    assert NAMES.scheduler("default-scheduler") == "h-0123abcd"
    assert NAMES.scheduler("mine") == "h-0123abcd-mine"
    assert NAMES.told("h-0123abcd") == "default-scheduler"
    assert NAMES.told("h-0123abcd-mine") == "mine"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Successfully assigned h-0123abcd-default/a to n", "Successfully assigned default/a to n"),
        ('profile="h-0123abcd"', 'profile="default-scheduler"'),
        ("https://api.example.com:6443/api/v1", "https://(server)/api/v1"),
        ("HTTPSConnectionPool(host='api.example.com', port=6443)", "HTTPSConnectionPool((server))"),
        ("lookup api.example.com: no such host", "lookup (server): no such host"),
        ("h-99999999-default/a", "h-99999999-default/a"),
    ],
)
def test_a_text_is_told_in_the_scenarios_words_and_without_the_address(text: str, told: str) -> None:
    assert NAMES.told(text) == told


def test_loopback_says_nothing_so_our_own_processes_stay_readable() -> None:
    names = Names("0123abcd", "127.0.0.1", 6443)
    assert (
        names.told("https://127.0.0.1:6443 and http://127.0.0.1:20001") == "https://(server) and http://127.0.0.1:20001"
    )


@pytest.mark.parametrize(
    ("text", "real"),
    [
        ("system:serviceaccount:kube-system:mine", "system:serviceaccount:h-0123abcd-kube-system:mine"),
        ("system:serviceaccounts:kube-system", "system:serviceaccounts:h-0123abcd-kube-system"),
        ("system:serviceaccounts", "system:serviceaccounts"),
        ("system:authenticated", "system:authenticated"),
    ],
)
def test_accounts_are_those_of_the_runs_namespaces(text: str, real: str) -> None:
    assert NAMES.account(text) == real
