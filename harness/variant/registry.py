"""The variants that can be installed."""

from harness.registry import Registry
from harness.variant.base import SchedulerVariant

VARIANTS = Registry(
    "variant",
    "harness.variants",
    {
        "default": "harness.variant.default:DefaultVariant",
        "extender": "harness.variant.extender:ExtenderVariant",
        "second-scheduler": "harness.variant.second_scheduler:SecondSchedulerVariant",
        "framework-plugin": "harness.variant.framework_plugin:FrameworkPluginVariant",
        "controller": "harness.variant.controller:ControllerVariant",
        "rebuilt-scheduler": "harness.variant.rebuilt:RebuiltSchedulerVariant",
    },
)


def variant(name: str) -> SchedulerVariant:
    """Return a variant by its name."""
    made: SchedulerVariant = VARIANTS.make(name)
    return made
