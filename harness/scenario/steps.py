"""What a scenario does, one model per `op`; a step only says what is wanted, the run stage carries it out."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, StrictBool, field_validator, model_validator
from pydantic_core.core_schema import ValidationInfo

from harness.scenario.extenders import CallKind
from harness.scenario.faults import ClearFaults, Fault, StartExtender, StopExtender
from harness.scenario.fields import (
    Count,
    CountOrZero,
    LabelKey,
    LabelValue,
    Model,
    NameList,
    NamePattern,
    Namespace,
    ObjectName,
    Quantity,
    Resource,
    Seconds,
    SelectorText,
    exactly_one,
)
from harness.scenario.manifests import check_file, check_object
from harness.scenario.names import INDEX, check_name
from harness.scenario.nodes import NodeGroup, Taints
from harness.scenario.words import shown

KubernetesObject = Annotated[dict[str, Any], AfterValidator(check_object)]
KindName = Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]*$", max_length=63)]
Groups = Annotated[tuple[NodeGroup, ...], Field(min_length=1)]

_NAMESPACE = Field(default="default", description="Namespace; default unless told.")
_POD_SELECTOR = Field(default="", description="Label selector of the pods; every pod unless told.")


class Create(Model):
    """Creates Kubernetes objects from a manifest file or from the scenario itself."""

    op: Literal["create"] = "create"
    file: Annotated[str, AfterValidator(check_file)] | None = Field(
        default=None, description="Manifest with one or more documents, relative to the scenario file."
    )
    objects: Annotated[tuple[KubernetesObject, ...], Field(min_length=1)] | None = Field(
        default=None, description="Kubernetes objects, written here."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        exactly_one(self, "file", "objects")
        return self


class CreatePods(Model):
    """Creates pods that are alike, without a workload above them."""

    op: Literal["createPods"] = "createPods"
    count: Count = Field(description="How many pods.")
    name: NamePattern = Field(default="pod-{index}", description="Their name; {index} counts from 1.")
    labels: dict[LabelKey, LabelValue] = Field(default={}, description="Labels of each pod.")
    annotations: dict[LabelKey, str] = Field(default={}, description="Annotations of each pod.")
    requests: dict[Resource, Quantity] = Field(default={"cpu": "100m"}, description="What each pod requests.")
    spec: dict[str, Any] = Field(default={}, description="Pod spec, merged over one with a pause container.")
    namespace: Namespace = _NAMESPACE

    @field_validator("name")
    @classmethod
    def _counts_its_pods(cls, name: str, info: ValidationInfo) -> str:
        count = info.data.get("count") or 1
        if count > 1 and INDEX not in name:
            raise ValueError(f"{count} pods would all be called {shown(name)}; put {INDEX} into the name")
        return check_name(name.replace(INDEX, str(count))) and name

    def pod_names(self) -> list[str]:
        """Return the names of the pods, in creation order."""
        return [self.name.replace(INDEX, str(index)) for index in range(1, self.count + 1)]


class Scale(Model):
    """Changes the replicas of a workload."""

    op: Literal["scale"] = "scale"
    kind: Literal["Deployment", "ReplicaSet", "StatefulSet"] = "Deployment"
    name: ObjectName = Field(description="Name of the workload.")
    replicas: CountOrZero = Field(description="How many replicas it shall have.")
    namespace: Namespace = _NAMESPACE


class Delete(Model):
    """Deletes one object by name, or every object of a kind that a selector matches."""

    op: Literal["delete"] = "delete"
    kind: KindName = Field(description="Kind of the object, such as Pod or Deployment.")
    name: ObjectName | None = Field(default=None, description="Name of the object.")
    selector: SelectorText | None = Field(default=None, description="Label selector of the objects, instead of a name.")
    api_version: str | None = Field(default=None, description="API version, for a kind that is not built in.")
    namespace: Namespace = _NAMESPACE

    @model_validator(mode="after")
    def _check(self) -> Self:
        exactly_one(self, "name", "selector")
        return self


class AddNodes(Model):
    """Adds nodes to the running cluster."""

    op: Literal["addNodes"] = "addNodes"
    nodes: Groups = Field(description="Node groups, written as under nodes.")


class NodeChoice(Model):
    """Nodes that are picked by name or by label selector."""

    names: NameList | None = Field(default=None, description="Names of the nodes.")
    selector: SelectorText | None = Field(default=None, description="Label selector of the nodes, instead of names.")

    @model_validator(mode="after")
    def _check_choice(self) -> Self:
        exactly_one(self, "names", "selector")
        return self


class RemoveNodes(NodeChoice):
    """Removes nodes, as if their machines were switched off for good."""

    op: Literal["removeNodes"] = "removeNodes"


class UpdateNodes(NodeChoice):
    """Changes labels, taints, capacity or schedulability of nodes."""

    op: Literal["updateNodes"] = "updateNodes"
    labels: dict[LabelKey, LabelValue | None] | None = Field(default=None, description="Labels; null removes one.")
    add_taints: Taints | None = Field(default=None, description="Taints to add.")
    remove_taints: tuple[LabelKey, ...] | None = Field(default=None, description="Keys of the taints to remove.")
    cordon: StrictBool | None = Field(default=None, description="true makes the nodes unschedulable, false undoes it.")
    capacity: dict[Resource, Quantity] | None = Field(default=None, description="Resources to set, such as cpu: 8.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        changes = (self.labels, self.add_taints, self.remove_taints, self.capacity)
        if self.cordon is None and not any(changes):
            raise ValueError("no change given; needs one of labels, addTaints, removeTaints, cordon, capacity")
        return self


class Drain(NodeChoice):
    """Cordons nodes and evicts their pods; undone by updateNodes with `cordon: false`."""

    op: Literal["drain"] = "drain"


class Churn(Model):
    """Deletes randomly chosen pods, round after round; the run's seed makes the choice repeatable."""

    op: Literal["churn"] = "churn"
    selector: SelectorText = _POD_SELECTOR
    count: Count = Field(description="Pods deleted in each round.")
    rounds: Count = Field(description="How many rounds; each waits until everything is settled.")
    namespace: Namespace = _NAMESPACE


class Settle(Model):
    """Waits until every pod is bound or definitely unschedulable and nothing moves."""

    op: Literal["settle"] = "settle"
    timeout_seconds: Seconds | None = Field(default=None, description="Deadline; the scenario's own unless told.")


class Await(Model):
    """Waits for pods or calls where settle would not: it takes a pod that the scheduler failed on as it is."""

    op: Literal["await"] = "await"
    selector: SelectorText = _POD_SELECTOR
    bound: CountOrZero | None = Field(default=None, description="How many of the pods have a node, at least.")
    running: CountOrZero | None = Field(default=None, description="How many of the pods run, at least.")
    calls: CountOrZero | None = Field(default=None, description="How many calls the taps have seen, at least.")
    verb: CallKind | None = Field(default=None, description="calls: only calls of this kind.")
    timeout_seconds: Seconds | None = Field(default=None, description="Deadline; the scenario's own unless told.")
    namespace: Namespace = _NAMESPACE

    @model_validator(mode="after")
    def _check(self) -> Self:
        exactly_one(self, "bound", "running", "calls")
        if self.verb and self.calls is None:
            raise ValueError("verb is about calls; give calls")
        return self


Step = Annotated[
    Create
    | CreatePods
    | Scale
    | Delete
    | AddNodes
    | RemoveNodes
    | UpdateNodes
    | Drain
    | Churn
    | Settle
    | Await
    | Fault
    | ClearFaults
    | StopExtender
    | StartExtender,
    Field(discriminator="op"),
]
