from pathlib import Path
from typing import Any

import yaml

from harness.scenario.extenders import PluginSpec
from harness.variant.config import render, scheduler_names
from harness.variant.framework_plugin import profile, traced
from tests.unit.variant.test_extender_variant import KUBECONFIG


def plugin(**fields: Any) -> PluginSpec:
    return PluginSpec.model_validate(fields)


def test_a_plugin_stands_at_every_point_but_does_not_sort_the_queue() -> None:
    assert profile({"Sample": plugin()}) == {
        "schedulerName": "default-scheduler",
        "plugins": {
            "multiPoint": {"enabled": [{"name": "Sample"}]},
            "queueSort": {"disabled": [{"name": "Sample"}]},
        },
        "pluginConfig": [],
    }


def test_a_weight_is_only_told_where_there_is_one() -> None:
    made = profile({"Heavy": plugin(weight=9), "Light": plugin()})
    assert made["plugins"]["multiPoint"]["enabled"] == [{"name": "Heavy", "weight": 9}, {"name": "Light"}]


def test_several_stand_in_the_order_in_which_they_were_brought() -> None:
    made = profile({"Zeta": plugin(), "Alpha": plugin(), "Mid": plugin()})
    assert [one["name"] for one in made["plugins"]["multiPoint"]["enabled"]] == ["Zeta", "Alpha", "Mid"]
    assert [one["name"] for one in made["plugins"]["queueSort"]["disabled"]] == ["Zeta", "Alpha", "Mid"]


def test_arguments_go_to_the_plugin_they_are_for() -> None:
    arguments = {"favoriteColor": "#326CE5", "points": ["Filter"]}
    made = profile({"Silent": plugin(), "Sample": plugin(args=arguments)})
    assert made["pluginConfig"] == [{"name": "Sample", "args": arguments}]


def test_the_stock_plugins_stay() -> None:
    made = profile({"Sample": plugin()})
    assert "disabled" not in made["plugins"]["multiPoint"]
    assert "enabled" not in made["plugins"]["queueSort"]


def test_a_configuration_is_rendered_of_it() -> None:
    made = profile({"Sample": plugin(weight=2, args={"favoriteNumber": 7})})
    config = render(KUBECONFIG, settings={"profiles": [made]})
    assert yaml.safe_load(config)["profiles"] == [made]
    assert scheduler_names(config) == ["default-scheduler"]


def test_a_built_scheduler_traces_only_where_it_is_told_to() -> None:
    assert traced(Path("built"), Path("trace.jsonl")).env == {"HARNESS_TRACE": "trace.jsonl"}
    assert traced(Path("built"), None).env == {}
