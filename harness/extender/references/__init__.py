"""Reference extenders: small, honest examples, and the subjects that the harness itself is tested with.

Each has a module of its own, which is imported when it is made.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GPU = "example.com/gpu"

_FILTER = {"filterVerb": "filter"}
_PRIORITIZE = {"prioritizeVerb": "prioritize", "weight": 1}
_BIND = {"bindVerb": "bind"}
# Where it is missing, kube-scheduler sends whole nodes: so did the labs that these extenders are known from.
_NAMES = {"nodeCacheCapable": True}


@dataclass(frozen=True)
class Reference:
    """One reference extender.

    Args:
        name: what stands behind `ref:`.
        summary: what it does, in a line.
        entry: its `extenders[]` entry, without `urlPrefix`.
        where: its class, as module:name.
        cluster: whether it does its work only with a kubeconfig.
        routes: kinds of calls that it serves elsewhere than at their own name.
    """

    name: str
    summary: str
    entry: Mapping[str, Any]
    where: str
    cluster: bool = False
    routes: Mapping[str, str] = field(default_factory=dict)

    @property
    def make(self) -> Any:
        """Return the class that makes it."""
        module, _, name = self.where.partition(":")
        return getattr(importlib.import_module(f"{__name__}.{module}"), name)


REFERENCES: dict[str, Reference] = {
    one.name: one
    for one in (
        Reference(
            "pass-through",
            "keeps every node and scores all of them 0; speaks both wire modes",
            {**_FILTER, **_PRIORITIZE, **_NAMES},
            "pass_through:PassThrough",
        ),
        Reference(
            "lucky",
            "keeps each node with probability 1/2 and scores at random, repeatably for a seed",
            {**_FILTER, **_PRIORITIZE},
            "lucky:Lucky",
        ),
        Reference(
            "name-length",
            "takes pods with names below 5 letters; scores 20 minus the length of the node's name, out of range",
            {**_FILTER, **_PRIORITIZE},
            "name_length:NameLength",
        ),
        Reference(
            "want-you",
            "pods labelled want=you go to one node (option node), all others nowhere; want=panic raises",
            {**_FILTER, **_NAMES},
            "want_you:WantYou",
        ),
        Reference(
            "index-bind",
            "keeps every node, scores by place in the list, binds pods itself",
            {**_FILTER, **_PRIORITIZE, **_BIND},
            "index_bind:IndexBind",
            cluster=True,
        ),
        Reference(
            "index-bind-misrouted",
            "index-bind, but it serves /priority where its entry says prioritize: its scores never count",
            {**_FILTER, **_PRIORITIZE, **_BIND},
            "index_bind:IndexBind",
            cluster=True,
            routes={"prioritize": "priority"},
        ),
        Reference(
            "binpack",
            "prefers the fullest nodes, by the requests of the pods that it watches",
            {**_PRIORITIZE, **_NAMES},
            "binpack:Binpack",
            cluster=True,
        ),
        Reference(
            "spread",
            "prefers the nodes with the fewest pods of the same app",
            {**_PRIORITIZE, **_NAMES},
            "spread:Spread",
            cluster=True,
        ),
        Reference(
            "prefer-label",
            "prefers nodes whose label (option label) says the same as the pod's",
            {**_PRIORITIZE, **_NAMES, "weight": 100},
            "prefer_label:PreferLabel",
            cluster=True,
        ),
        Reference(
            "gpu-device",
            f"gives pods that ask for {GPU} their devices: filters by free ones, reserves and binds",
            {**_FILTER, **_BIND, **_NAMES, "managedResources": [{"name": GPU}]},
            "gpu_device:GpuDevice",
            cluster=True,
        ),
    )
}
