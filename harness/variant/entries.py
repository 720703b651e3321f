"""Refuses entries of extenders that kube-scheduler would not start with, wherever they come from."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.errors import InputError
from harness.extender.subject.parse import Subject
from harness.extender.traffic import Connected
from harness.scenario.positions import Document
from harness.scenario.problems import dotted
from harness.variant.legacy.base import Draft, Spot
from harness.variant.legacy.checks import check

# What a started subject listens at is known when it runs, and always right.
ANYWHERE = "http://127.0.0.1"


def check_known(subjects: Sequence[tuple[str, Subject]]) -> None:
    """Refuse what is wrong with entries already before anything is started; what nobody said is asked for later.

    Raises:
        InputError: kube-scheduler would refuse one; every problem has the extender's name and the key.
    """
    entries = {
        f"extender {name} ({one.text})": {
            "weight": None,
            **(one.entry or {}),
            "urlPrefix": ANYWHERE if one.is_started else one.target,
        }
        for name, one in subjects
    }
    _refuse(entries)


def check_connected(extenders: Sequence[Connected]) -> None:
    """Refuse what is wrong with the entries of extenders that run, as the scheduler would get them.

    Raises:
        InputError: kube-scheduler would refuse one; every problem has the extender's name and the key.
    """
    # An entry leaves out what is 0; of a weight that has to be told.
    entries = {
        f"extender {one.name} ({one.subject})": {**one.entry.to_json(), "weight": one.entry.weight} for one in extenders
    }
    _refuse(entries)


def _refuse(entries: Mapping[str, Mapping[str, Any]]) -> None:
    config = {"extenders": [dict(entry) for entry in entries.values()]}
    draft = Draft(config)
    # They stand in no file, so that no value has a line.
    draft.kept(Spot("", Document(config, {})), ())
    check(draft)
    places = list(entries)
    told = []
    for problem in draft.problems:
        _, number, *path = problem.path
        told.append(f"{places[int(number)]}: {dotted(tuple(path))}{': ' if path else ''}{problem.message}")
    if told:
        raise InputError("\n".join(told))
