import re
from pathlib import Path

import pytest

from harness import toolchain
from harness.cluster.embedded.releases import release, releases
from harness.errors import BuildError, InputError
from harness.plugin.module import Module, module_of
from harness.plugin.source import PluginSource
from tests.unit.plugin.given import plugin

RELEASE = release(None)
STAGED = f"v0.{RELEASE.version.removeprefix('1.')}"


def joined(*folders: Path) -> tuple[Module, list[str]]:
    plugins = [PluginSource.parse(f"go:{folder}") for folder in folders]
    return module_of(plugins, RELEASE, toolchain.find(RELEASE.go))


def write_module(folder: Path, *lines: str) -> Path:
    (folder / "go.mod").write_text("\n".join(["module example.com/me", "", "go 1.24.0", *lines, ""]))
    return folder


def test_a_folder_without_a_module_gets_one_that_only_go_sees(tmp_path: Path) -> None:
    folder = plugin(tmp_path / "colors")
    module, paths = joined(folder)
    assert paths == ["plugin.test/colors"]
    assert module.overlay[folder / "go.mod"].startswith("module plugin.test/colors\n")
    assert not (folder / "go.mod").exists()
    text = module.text(RELEASE)
    assert text.startswith("module harness.test/scheduler\n")
    assert f'replace plugin.test/colors => "{folder}"' in text
    assert f"k8s.io/kubernetes v{RELEASE.version}" in text
    assert not module.is_open


def test_alike_and_odd_names_of_folders_do_not_meet(tmp_path: Path) -> None:
    _, paths = joined(*(plugin(tmp_path / name) for name in ("a/colors", "b/colors", "two words")))
    assert paths == ["plugin.test/colors", "plugin.test/colors1", "plugin.test/plugin2"]


def test_two_plugins_of_one_module_share_it(tmp_path: Path) -> None:
    write_module(tmp_path)
    module, paths = joined(plugin(tmp_path / "one"), plugin(tmp_path / "two"))
    assert paths == ["example.com/me/one", "example.com/me/two"]
    assert len(module.requirements) == 1


def test_a_module_keeps_what_the_release_does_not_pin(tmp_path: Path) -> None:
    write_module(
        plugin(tmp_path),
        "require github.com/google/uuid v1.6.0",
        "require github.com/some/thing v1.2.3",
        f"require k8s.io/kubernetes v1.{RELEASE.minor.removeprefix('1.')}.0",
        "require k8s.io/api v0.0.0",
        "require github.com/spf13/pflag v1.0.1 // indirect",
        f"replace k8s.io/api => k8s.io/api {STAGED}",
        "replace github.com/some/thing => ../thing",
    )
    (tmp_path / "go.sum").write_text("github.com/google/uuid v1.6.0 h1:x\n")
    module, _ = joined(tmp_path)
    seen = module.overlay[tmp_path / "go.mod"]
    assert "github.com/google/uuid v1.6.0" in seen
    assert "pflag" not in seen
    assert "k8s.io" not in seen
    assert f'replace github.com/some/thing => "{tmp_path.parent / "thing"}"' in module.text(RELEASE)
    assert "replace k8s.io" not in module.text(RELEASE)
    assert "github.com/google/uuid v1.6.0 h1:x" in module.sum_text(RELEASE)
    assert module.is_open


@pytest.mark.parametrize(
    "lines",
    [
        ["require k8s.io/kubernetes v1.{minor}.2"],
        ["require k8s.io/kube-scheduler v0.{minor}.2"],
        ["require k8s.io/api v0.0.0", "replace k8s.io/api => k8s.io/api v0.{minor}.2"],
    ],
    ids=["kubernetes", "staged", "replaced"],
)
@pytest.mark.parametrize("minor", [33, 35])
def test_a_plugin_for_another_minor_is_refused_with_the_line(tmp_path: Path, lines: list[str], minor: int) -> None:
    write_module(plugin(tmp_path), *(line.format(minor=minor) for line in lines))
    with pytest.raises(InputError) as caught:
        joined(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'go.mod'}:{3 + len(lines)}: k8s.io/")
    assert f"so the plugin is for Kubernetes 1.{minor}; the cluster runs {RELEASE.version}" in message
    known = f"1.{minor}" in {each.minor for each in releases()}
    assert (f"--kubernetes 1.{minor}" in message) is known


def test_modules_of_kubernetes_with_other_numbers_say_nothing(tmp_path: Path) -> None:
    write_module(
        plugin(tmp_path),
        "require k8s.io/klog/v2 v2.130.1",
        "require k8s.io/utils v0.0.0-20240102154912-e7106e64919e",
        "require sigs.k8s.io/yaml v1.4.0",
    )
    assert joined(tmp_path)


def test_a_module_file_that_go_cannot_read_is_told_as_go_told_it(tmp_path: Path) -> None:
    write_module(plugin(tmp_path), "requier x")
    with pytest.raises(BuildError, match=re.escape(f"{tmp_path / 'go.mod'}:4: unknown directive: requier")):
        joined(tmp_path)
