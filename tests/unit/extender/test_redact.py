import copy
from typing import Any

import pytest

from harness.extender.cassette.redact import ARGUMENTS, RULES, mark, redact, redact_bytes
from harness.extender.requests import extender_args, node, pod

SECRET = "hunter2"


def container(**values: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "c", **values}]}}


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (container(env=[{"name": "HOME", "value": SECRET}]), "env values"),
        ({"spec": {"initContainers": [{"env": [{"name": "A", "value": SECRET}]}]}}, "env values"),
        (container(args=[f"--password={SECRET}"]), "arguments that look secret"),
        (container(args=["--db-password", SECRET]), "arguments that look secret"),
        (container(command=["sh", "-c", f"API_KEY={SECRET} run"]), "arguments that look secret"),
        (container(args=[f"postgres://user:{SECRET}@db/x"]), "arguments that look secret"),
        (
            container(livenessProbe={"exec": {"command": ["check", f"--token={SECRET}"]}}),
            "arguments that look secret",
        ),
        (
            container(readinessProbe={"httpGet": {"httpHeaders": [{"name": "Authorization", "value": SECRET}]}}),
            "headers of probes that look secret",
        ),
        ({"metadata": {"annotations": {"vault/Token": SECRET}}}, "annotations that look secret"),
        (
            {"metadata": {"annotations": {"kubectl.kubernetes.io/last-applied-configuration": SECRET}}},
            "last-applied-configuration annotations",
        ),
        (
            {"spec": {"volumes": [{"name": "v", "csi": {"volumeAttributes": {"secretKey": SECRET}}}]}},
            "volume options that look secret",
        ),
        ({"items": [{"kind": "Secret", "data": {"a": SECRET}}]}, "data of Secrets"),
        ({"kind": "Secret", "stringData": {"a": SECRET}}, "data of Secrets"),
    ],
)
def test_what_is_taken_out(value: dict[str, Any], rule: str) -> None:
    before = copy.deepcopy(value)
    safe, rules = redact({"Pod": value})
    assert SECRET not in str(safe)
    assert rules == (rule,)
    assert rule in RULES
    assert value == before, "what was given may be used on"


@pytest.mark.parametrize(
    "value",
    [
        container(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "password"}}}]),
        container(env=[{"name": "A", "value": ""}], envFrom=[{"secretRef": {"name": "s"}}]),
        container(args=["--port=80", "-v"], command=["/bin/tokenizer"]),
        {"metadata": {"labels": {"token": "x", "password": "y"}, "annotations": {"note": "x"}}},
        {"spec": {"nodeSelector": {"secret": "x"}, "tolerations": [{"key": "token", "value": "x"}]}},
        {"spec": {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]}},
        {"status": {"allocatable": {"example.com/token": "1"}}},
        extender_args(
            pod("token", labels={"secret": "x"}), [node("secret-1", labels={"token": "x"})], names_only=False
        ),
    ],
)
def test_what_stays(value: Any) -> None:
    assert redact(value) == (value, ())


def test_unchanged_parts_are_not_copied() -> None:
    big = [node(f"n-{number}") for number in range(3)]
    assert redact(big)[0] is big


def test_equal_secrets_have_equal_marks() -> None:
    assert mark("a") == mark("a") != mark("b")
    assert "a" not in mark("a").removeprefix("redacted-").replace("a", "", 12)


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, {"containers": 5}, {"annotations": []}, {"volumes": None}])
def test_odd_values(value: Any) -> None:
    assert redact(value) == (value, ())


@pytest.mark.parametrize(
    "text",
    [
        b'{"env":[{"name":"A","value":"hunter2"}',
        b'{"annotations":{"my-Token": "hunter2"',
        b'{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"hunter2',
        b'{"password":"hun\\"ter2 hunter2',
    ],
)
def test_broken_json(text: bytes) -> None:
    assert b"hunter2" not in redact_bytes(text)
    assert redact_bytes(b"<html>no secrets") == b"<html>no secrets"


def test_a_secret_that_begins_like_an_option_is_taken_out() -> None:
    container = {"args": ["--token", "-hunter2", "--token", "-v", "--pwd=hunter2"]}
    changed, rules = redact({"spec": {"containers": [container]}})
    flag, secret, again, option, pwd = changed["spec"]["containers"][0]["args"]
    assert (flag, again, option) == ("--token", "--token", "-v")
    assert "hunter2" not in secret + pwd
    assert ARGUMENTS in rules
