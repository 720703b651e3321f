import pytest

from harness.expect.explain import explain, plugin_of

PREEMPTION = (
    "0/3 nodes are available: 1 Preemption is not helpful for scheduling, "
    "2 No preemption victims found for incoming pod."
)


def test_reasons_are_counted_per_plugin() -> None:
    told = explain(
        "0/3 nodes are available: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, "
        f"2 Insufficient cpu. preemption: {PREEMPTION}"
    )
    assert told.total == 3
    assert [(reason.nodes, reason.text, reason.plugin) for reason in told.reasons] == [
        (1, "node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }", "TaintToleration"),
        (2, "Insufficient cpu", "NodeResourcesFit"),
    ]
    assert told.plugins == ("TaintToleration", "NodeResourcesFit")
    assert told.general is None
    assert told.preemption == PREEMPTION
    assert [reason.nodes for reason in told.preemption_reasons] == [1, 2]
    assert told.summary() == (
        "of 3 nodes: TaintToleration 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }; "
        "NodeResourcesFit 2 Insufficient cpu"
    )


def test_commas_inside_braces_split_nothing() -> None:
    told = explain("0/5 nodes are available: 3 node(s) had untolerated taint {a: b, 2 c: d}, 2 Too many pods.")
    assert [reason.nodes for reason in told.reasons] == [3, 2]


def test_one_plugin_may_refuse_a_node_for_two_reasons() -> None:
    told = explain("0/2 nodes are available: 2 Insufficient cpu, 2 Insufficient nvidia.com/gpu.")
    assert told.plugins == ("NodeResourcesFit",)
    assert len(told.by_plugin()["NodeResourcesFit"]) == 2


def test_a_word_of_an_extender_keeps_its_commas_and_has_no_plugin() -> None:
    told = explain("0/2 nodes are available: 2 no luck today, try again. preemption: not eligible due to x.")
    assert [(reason.nodes, reason.text, reason.plugin) for reason in told.reasons] == [
        (2, "no luck today, try again", None)
    ]
    assert "extender or out-of-tree plugin 2 no luck" in told.summary()


def test_a_prefilter_text_is_general() -> None:
    told = explain(
        f"0/3 nodes are available: pod has unbound immediate PersistentVolumeClaims. preemption: {PREEMPTION}"
    )
    assert (told.total, told.reasons) == (3, ())
    assert (told.general, told.general_plugin) == ("pod has unbound immediate PersistentVolumeClaims", "VolumeBinding")
    assert told.preemption == PREEMPTION


def test_what_dynamic_resources_says_about_every_pod_is_left_out() -> None:
    told = explain(
        "0/3 nodes are available: 3 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    )
    assert [str(reason) for reason in told.reasons] == ["3 Insufficient cpu"]
    assert told.general is None
    assert told.preemption == "0/3 nodes are available: 3 Preemption is not helpful for scheduling."
    stranger = explain("0/1 nodes are available: 1 no luck. no new claims to deallocate, preemption: no")
    assert [str(reason) for reason in stranger.reasons] == ["1 no luck"]
    alone = explain("0/1 nodes are available: 1 no luck. no new claims to deallocate")
    assert [str(reason) for reason in alone.reasons] == ["1 no luck"]
    turned = explain(
        "0/1 nodes are available: 1 no luck. preemption: 0/1 nodes are available: 1 no., no new claims to deallocate"
    )
    assert turned.preemption == "0/1 nodes are available: 1 no."


def test_a_postfilter_text_of_a_stranger_is_general() -> None:
    told = explain("0/1 nodes are available: 1 Insufficient cpu. quota is asleep")
    assert [str(reason) for reason in told.reasons] == ["1 Insufficient cpu"]
    assert told.general == "quota is asleep"


@pytest.mark.parametrize(
    ("message", "general", "plugin"),
    [
        ("no nodes available to schedule pods", "no nodes available to schedule pods", None),
        (
            "Scheduling is blocked due to non-empty scheduling gates",
            "Scheduling is blocked due to non-empty scheduling gates",
            "SchedulingGates",
        ),
        (
            'Post "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused',
            'Post "http://127.0.0.1:1/filter": dial tcp 127.0.0.1:1: connect: connection refused',
            None,
        ),
        ("", None, None),
    ],
)
def test_other_messages_are_general(message: str, general: str | None, plugin: str | None) -> None:
    told = explain(message)
    assert (told.total, told.general, told.general_plugin) == (None, general, plugin)


def test_an_empty_cluster_has_no_reasons() -> None:
    told = explain("0/0 nodes are available:")
    assert (told.total, told.reasons, told.general) == (0, (), None)


@pytest.mark.parametrize(
    ("reason", "plugin"),
    [
        ("Insufficient ephemeral-storage", "NodeResourcesFit"),
        ("node(s) had untolerated taint(s)", "TaintToleration"),
        ("node(s) were unschedulable", "NodeUnschedulable"),
        ("node(s) didn't match Pod's node affinity/selector", "NodeAffinity"),
        ("node(s) didn't satisfy plugin(s) [NodeAffinity]", "NodeAffinity"),
        ("node(s) didn't satisfy plugin(s) [NodeAffinity VolumeBinding] simultaneously", "NodeAffinity, VolumeBinding"),
        ("node(s) didn't satisfy plugin NodeAffinity", "NodeAffinity"),
        ("node(s) didn't match the requested node name", "NodeName"),
        ("node(s) didn't have free ports for the requested pod ports", "NodePorts"),
        ("node(s) didn't match Pod's required features", "NodeDeclaredFeatures"),
        ("node(s) didn't match pod topology spread constraints (missing required label)", "PodTopologySpread"),
        ("node(s) didn't satisfy existing pods anti-affinity rules", "InterPodAffinity"),
        ("node(s) didn't match pod anti-affinity rules", "InterPodAffinity"),
        ("node(s) didn't match pod affinity rules", "InterPodAffinity"),
        ("node(s) exceed max volume count", "NodeVolumeLimits"),
        ("ebs.csi.aws.com CSI driver is not installed on the node", "NodeVolumeLimits"),
        ("node(s) didn't match PersistentVolume's node affinity", "VolumeBinding"),
        ('persistentvolumeclaim "data" not found', "VolumeBinding"),
        ("node(s) had no available disk", "VolumeRestrictions"),
        ("node(s) had no available volume zone", "VolumeZone"),
        ("cannot allocate all claims", "DynamicResources"),
        ("waiting for minCount pods from a gang to appear in scheduling queue", "GangScheduling"),
        ("Preemption is not helpful for scheduling", "DefaultPreemption"),
        ("no luck today", None),
    ],
)
def test_reasons_name_their_plugin(reason: str, plugin: str | None) -> None:
    assert plugin_of(reason) == plugin
