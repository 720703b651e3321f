from typing import Any

import pytest

from harness.errors import InputError
from harness.extender.entry import DEFAULT_TIMEOUT_SECONDS, Entry, duration_seconds

WHOLE = {
    "urlPrefix": "https://127.0.0.1:8888/s",
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "preemptVerb": "preempt",
    "bindVerb": "bind",
    "weight": 5,
    "enableHTTPS": True,
    "tlsConfig": {"insecure": True, "serverName": "x"},
    "httpTimeout": "1m30s",
    "nodeCacheCapable": True,
    "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": True}],
    "ignorable": True,
}


def test_an_entry_survives_being_written() -> None:
    entry = Entry.from_json(WHOLE)
    assert entry.to_json() == WHOLE
    assert Entry.from_json(entry.to_json()) == entry


def test_what_is_not_set_is_not_written() -> None:
    assert Entry().to_json() == {}
    assert Entry.from_json({}) == Entry()
    unset = {"filterVerb": "", "weight": 0, "ignorable": False, "tlsConfig": {}, "managedResources": []}
    assert Entry.from_json(unset).to_json() == {}


def test_a_weight_of_one_is_written() -> None:
    """One equals True, which is what makes this worth a test."""
    assert Entry(weight=1, ignorable=True).to_json() == {"weight": 1, "ignorable": True}


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"filterverb": "filter"}, "unknown key 'filterverb', which kube-scheduler refuses to start with; did you"),
        ({"enableHttps": True}, 'did you mean "enableHTTPS"?'),
        ({"port": 1}, "unknown key 'port', which kube-scheduler refuses to start with; known: urlPrefix, filterVerb"),
        ({"weight": "5"}, "extenders[1].weight: '5' seen, an integer expected"),
        ({"weight": True}, "extenders[1].weight: True seen, an integer expected"),
        ({"weight": 1.5}, "extenders[1].weight: 1.5 seen, an integer expected"),
        ({"ignorable": 1}, "extenders[1].ignorable: 1 seen, true or false expected"),
        ({"filterVerb": None}, "extenders[1].filterVerb: None seen, a string expected"),
        ({"tlsConfig": []}, "extenders[1].tlsConfig: [] seen, an object expected"),
        ({"managedResources": {}}, "extenders[1].managedResources: {} seen, a list expected"),
        ({"httpTimeout": 5}, "extenders[1].httpTimeout: 5 seen, a string expected"),
        ({"httpTimeout": "5"}, "httpTimeout: '5' seen, a duration such as"),
    ],
)
def test_what_kube_scheduler_would_not_start_with_is_refused(value: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        Entry.from_json(value, "extenders[1]")
    assert told in str(caught.value)


def test_the_verbs_are_those_that_are_configured() -> None:
    entry = Entry(filter_verb="predicates", bind_verb="v1/bind")
    assert entry.verbs() == {"filter": "predicates", "bind": "v1/bind"}
    assert (entry.verb("filter"), entry.verb("preempt")) == ("predicates", "")


@pytest.mark.parametrize(
    ("prefix", "verb", "url"),
    [
        ("http://h:1", "filter", "http://h:1/filter"),
        ("http://h:1/", "filter", "http://h:1/filter"),
        ("http://h:1/s//", "filter", "http://h:1/s/filter"),
        ("http://h:1/s", "/filter", "http://h:1/s//filter"),
        ("http://h:1/s", "v1/filter", "http://h:1/s/v1/filter"),
    ],
)
def test_a_call_goes_where_kube_scheduler_sends_it(prefix: str, verb: str, url: str) -> None:
    """It cuts slashes at the end of the prefix, and appends the verb as it is."""
    entry = Entry(url_prefix=prefix, filter_verb=verb)
    assert entry.url("filter") == url
    assert entry.kind_of(url.removeprefix("http://h:1")) == "filter"


def test_a_path_is_of_the_kind_that_is_configured_for_it() -> None:
    entry = Entry(url_prefix="http://h:1/s", filter_verb="filter", prioritize_verb="score")
    assert entry.kind_of("/s/score") == "prioritize"
    assert [entry.kind_of(path) for path in ("/s/prioritize", "/filter", "/s/", "/s/filter/", "")] == [None] * 5
    assert Entry(url_prefix="http://h:1/s").kind_of("/s/") is None, "no verb is configured, so nothing is called"


def test_the_same_entry_elsewhere_differs_in_its_address_only() -> None:
    entry = Entry.from_json(WHOLE)
    assert entry.at("http://other").to_json() == WHOLE | {"urlPrefix": "http://other"}


@pytest.mark.parametrize(("text", "seconds"), [("", 5.0), ("0", 5.0), ("0s", 5.0), ("250ms", 0.25), ("1m", 60.0)])
def test_the_time_of_a_call_is_five_seconds_unless_told(text: str, seconds: float) -> None:
    assert Entry(http_timeout=text).timeout_seconds == pytest.approx(seconds)
    assert DEFAULT_TIMEOUT_SECONDS == 5.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5),
        ("1m30s", 90),
        ("1h", 3600),
        ("1.5h", 5400),
        (".5s", 0.5),
        ("1.s", 1),
        ("250ms", 0.25),
        ("3us", 3e-6),
        ("3µs", 3e-6),
        ("7ns", 7e-9),
        ("-2s", -2),
        ("+2s", 2),
        ("0", 0),
        ("1h2m3s4ms", 3723.004),
    ],
)
def test_durations_are_read_as_go_does(text: str, seconds: float) -> None:
    assert duration_seconds(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "5", "s", "5 s", "5sec", "1m 30s", "five", "5S", "--5s", ".s", "1d", "5s\n"])
def test_what_go_does_not_read_is_no_duration(text: str) -> None:
    with pytest.raises(InputError, match="a duration such as"):
        duration_seconds(text)


def container(**resources: Any) -> dict[str, Any]:
    return {"name": "c", "resources": resources}


GPU = {"example.com/gpu": "1"}


@pytest.mark.parametrize(
    ("spec", "interested"),
    [
        ({"containers": [container(requests=GPU)]}, True),
        ({"containers": [container(), container(limits=GPU)]}, True),
        ({"initContainers": [container(requests=GPU)], "containers": [container()]}, True),
        ({"containers": [container(requests={"cpu": "1"})]}, False),
        ({"containers": [{"name": "c"}]}, False),
        ({"containers": None}, False),
        ({}, False),
    ],
)
def test_only_pods_that_ask_for_a_managed_resource_are_sent(spec: dict[str, Any], interested: bool) -> None:
    managing = Entry.from_json({"managedResources": [{"name": "example.com/gpu"}]})
    assert managing.is_interested({"spec": spec}) is interested
    assert Entry().is_interested({"spec": spec})
