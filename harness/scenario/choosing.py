"""How an expectation chooses the pods it is about: by label selector, by namespace, by name."""

import fnmatch
from collections.abc import Mapping
from typing import Self

from pydantic import Field, model_validator

from harness.scenario import selector
from harness.scenario.fields import Model, Namespace, PatternList, SelectorText


class Selecting(Model):
    """An expectation about the pods that a label selector matches."""

    selector: SelectorText = Field(default="", description="Label selector of the pods; every pod unless told.")
    namespace: Namespace | None = Field(default=None, description="Only pods of this namespace.")

    def picks(self, namespace: str, name: str, labels: Mapping[str, str]) -> bool:
        """Tell whether the expectation is about a pod."""
        return self.namespace in (None, namespace) and selector.parse(self.selector).matches(labels)


class Choosing(Selecting):
    """An expectation about pods that are chosen by label selector or by name."""

    pods: PatternList | None = Field(default=None, description="Names instead of a selector; * matches anything.")

    @model_validator(mode="after")
    def _check_choice(self) -> Self:
        if self.pods is not None and self.selector:
            raise ValueError("give either selector or pods, both seen")
        return self

    def picks(self, namespace: str, name: str, labels: Mapping[str, str]) -> bool:
        """Tell whether the expectation is about a pod."""
        named = self.pods is None or any(fnmatch.fnmatchcase(name, pattern) for pattern in self.pods)
        return named and super().picks(namespace, name, labels)
