"""Colours: a variant has its own everywhere, and all eyes tell those of one palette apart."""

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray

from harness.report import charts
from harness.report.sections import extenders
from harness.report.sections.latency import CALLS_MIN
from tests.unit.report.reading import ENGLISH, of, pictures
from tests.unit.report.test_section_extenders import called

Values = NDArray[np.float64]
# How eyes without one kind of cone see linear RGB (Machado, Oliveira and Fernandes, 2009).
EYES = {
    "all cones": np.eye(3),
    "no long": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no middle": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no short": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])
APART_MIN = 15.0


def linear(colour: str) -> Values:
    values = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def lab(colour: str, eyes: Values) -> Values:
    part = TO_XYZ @ np.clip(eyes @ linear(colour), 0, 1) / WHITE
    root = np.where(part > 0.008856, np.cbrt(part), 7.787 * part + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


@pytest.mark.parametrize("eyes", EYES)
def test_all_eyes_tell_subjects_apart(eyes: str) -> None:
    seen = [lab(colour, EYES[eyes]) for colour in charts.SUBJECTS]
    assert min(float(np.linalg.norm(one - other)) for one, other in itertools.combinations(seen, 2)) > APART_MIN


def test_no_subject_looks_like_a_variant() -> None:
    variants = charts.COLOURS[: len(charts.VARIANTS)]
    plain = EYES["all cones"]
    pairs = itertools.product(charts.SUBJECTS, (*variants, charts.BAD, charts.GOOD))
    assert min(float(np.linalg.norm(lab(one, plain) - lab(other, plain))) for one, other in pairs) > APART_MIN


def test_lines_of_calls_have_no_colour_of_a_variant() -> None:
    section = extenders.section(of(called(*range(1, CALLS_MIN + 2))), ENGLISH)
    picture = pictures(section)["extender-latency"]
    used = picture.spec["encoding"]["color"]["scale"]["range"]
    assert used == [charts.SUBJECTS[0]]
    assert not set(charts.SUBJECTS) & set(charts.COLOURS)


def test_a_subject_that_comes_again_has_one_colour() -> None:
    scale = charts.subject_scale(["a", "b", "a"]).to_dict()
    assert scale == {"domain": ["a", "b"], "range": list(charts.SUBJECTS[:2])}
