from collections.abc import Callable

import pytest

from harness.scenario import names


@pytest.mark.parametrize("name", ["a", "node-1", "node.example.com", "1", "a" * 253])
def test_names(name: str) -> None:
    assert names.check_name(name) == name


@pytest.mark.parametrize("name", ["", "Node", "node_1", "-a", "a-", "a..b", "a.-b", "a b", "ä", "a" * 254, "node\n"])
def test_names_that_cannot_exist(name: str) -> None:
    with pytest.raises(ValueError, match=r"is not a Kubernetes name|at most 253"):
        names.check_name(name)


@pytest.mark.parametrize("key", ["a", "A_b.c-d", "example.com/a", "x" * 63])
def test_label_keys(key: str) -> None:
    assert names.check_label_key(key) == key


@pytest.mark.parametrize("key", ["", "/a", "a/", "a/b/c", "Example.com/a", "-a", "x" * 64])
def test_label_keys_that_cannot_exist(key: str) -> None:
    with pytest.raises(ValueError, match="is not a label key"):
        names.check_label_key(key)


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (names.check_label_value, "", "a b"),
        (names.check_label_value, "A.b_c-d", "x" * 64),
        (names.check_namespace, "kube-system", "a.b"),
        (names.check_namespace, "a" * 63, "a" * 64),
        (names.check_name_pattern, "node-{index}", "node-{number}"),
        (names.check_name_pattern, "{index}", "{index}-"),
        (names.check_label_pattern, "zone-{index}", "zone {index}"),
        (names.check_resource, "cpu", "cores"),
        (names.check_resource, "hugepages-2Mi", "hugepages-2Mb"),
        (names.check_extended_resource, "nvidia.com/gpu", "gpu"),
        (names.check_extended_resource, "ephemeral-storage", "memory"),
    ],
)
def test_others(check: Callable[[str], str], good: str, bad: str) -> None:
    assert check(good) == good
    with pytest.raises(ValueError, match=f'^"{bad[:20]}'):
        check(bad)
