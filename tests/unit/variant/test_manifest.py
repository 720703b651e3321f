"""A manifest of a second scheduler is taken apart, and what is missing in it is told with its line."""

import pytest

from harness.errors import InputError
from harness.variant.manifest import SchedulerManifest, read_manifest
from harness.variant.second_scheduler import SHIPPED

TEXT = SHIPPED.read_text(encoding="utf-8")


def read(text: str = TEXT) -> SchedulerManifest:
    return read_manifest(text, "m.yaml")


def test_the_shipped_manifest() -> None:
    manifest = read()
    assert (manifest.namespace, manifest.service_account, manifest.health_port) == (
        "kube-system",
        "my-scheduler",
        10259,
    )
    kinds = [item["kind"] for item in manifest.objects]
    assert kinds == ["ServiceAccount", "ClusterRoleBinding", "ClusterRoleBinding", "ConfigMap"]
    assert "schedulerName: my-scheduler" in manifest.config
    assert manifest.where == "m.yaml: ConfigMap my-scheduler-config, key my-scheduler-config.yaml"


def test_a_sidecar_before_the_scheduler_is_passed_over() -> None:
    sidecar = "      containers:\n      - name: extender\n        image: example.com/extender\n"
    assert read(TEXT.replace("      containers:\n", sidecar)).config == read().config


def test_config_as_two_words_and_items_of_the_volume() -> None:
    text = TEXT.replace(
        "command: [kube-scheduler, --config=/etc/kubernetes/my-scheduler/my-scheduler-config.yaml]",
        "args: [kube-scheduler, --config, /etc/kubernetes/my-scheduler/renamed.yaml]",
    ).replace(
        "configMap: {name: my-scheduler-config}",
        "configMap: {name: my-scheduler-config, items: [{key: my-scheduler-config.yaml, path: renamed.yaml}]}",
    )
    assert read(text).config == read().config


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("kind: Deployment", "kind: Service", r"one Deployment or .* expected, ServiceAccount, .*Service seen"),
        ("--config=", "--conf=", r"m\.yaml:\d+: Deployment my-scheduler: no container with --config"),
        ("configMap: {name: my-scheduler-config}", "emptyDir: {}", "volume 'config', which is no ConfigMap"),
        ("mountPath: /etc/kubernetes/my-scheduler", "mountPath: /elsewhere", "nothing is mounted at /etc/kubernetes"),
        ("  my-scheduler-config.yaml: |", "  other.yaml: |", "has no key 'my-scheduler-config.yaml'; its keys: other"),
        ("configMap: {name: my-", "configMap: {name: your-", "kube-system/your-scheduler-config is mounted, and"),
        ("kind: ServiceAccount\n", "kind: [\n", r"m\.yaml:\d+"),
    ],
)
def test_what_is_missing(old: str, new: str, told: str) -> None:
    assert old in TEXT
    with pytest.raises(InputError, match=told):
        read(TEXT.replace(old, new, 1))
