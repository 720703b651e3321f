"""What kube-scheduler cannot live without, by the ClusterRole that grants it: (group, resource, verb)."""

NEEDED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "system:kube-scheduler": (
        ("", "nodes", "list"),
        ("", "pods", "list"),
        ("", "pods/binding", "create"),
        ("", "pods/status", "patch"),
        ("", "namespaces", "list"),
        ("", "services", "list"),
        ("", "replicationcontrollers", "list"),
        ("apps", "replicasets", "list"),
        ("apps", "statefulsets", "list"),
        ("policy", "poddisruptionbudgets", "list"),
        ("events.k8s.io", "events", "create"),
        ("storage.k8s.io", "csinodes", "list"),
    ),
    "system:volume-scheduler": (
        ("", "persistentvolumes", "update"),
        ("", "persistentvolumeclaims", "update"),
        ("storage.k8s.io", "storageclasses", "list"),
    ),
}
