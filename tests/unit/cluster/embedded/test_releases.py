import pytest

from harness.cluster.embedded.releases import release, releases
from harness.errors import InputError

VERSION_PARTS = 3


def test_every_release_is_complete_and_oldest_first() -> None:
    known = releases()
    minors = [tuple(int(part) for part in one.minor.split(".")) for one in known]
    assert minors == sorted(set(minors))
    for one in known:
        for version in (one.version, one.etcd, one.kwok):
            assert len(version.split(".")) == VERSION_PARTS, one
        assert one.go.startswith("1."), one
        assert one.module_file.with_suffix(".sum").is_file()


def test_nothing_asked_for_means_the_default() -> None:
    assert [one for one in releases() if one.default] == [release(None)]


def test_a_release_is_found_by_its_minor_and_by_its_version() -> None:
    for one in releases():
        for name in (one.minor, one.version, f"v{one.version}"):
            assert release(name) == one


@pytest.mark.parametrize("wanted", ["1.2", "1.36.99", "1", "36", "", "latest"])
def test_what_is_not_supported_is_answered_with_what_is(wanted: str) -> None:
    with pytest.raises(InputError) as caught:
        release(wanted)
    assert str(caught.value).startswith(f"--kubernetes {wanted}: not supported")
    for one in releases():
        assert f"{one.minor} ({one.version})" in str(caught.value)
    assert "harness doctor" in str(caught.value)
