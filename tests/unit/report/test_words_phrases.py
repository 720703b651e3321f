# ruff: noqa: RUF001 - Chinese marks are meant.
"""Sentences of records in Chinese: how forms are read, and that real sentences are known."""

import re
import time
from collections import Counter
from pathlib import Path

import orjson
import pytest
import yaml

from harness.report.words import FOLDER, Words
from harness.report.words.forms import form
from harness.report.words.phrases import CHARACTERS_MAX, JOINTS, Phrases, phrases_of

SENTENCES = [orjson.loads(line) for line in (Path(__file__).parent / "sentences.jsonl").read_bytes().splitlines()]
FILES = sorted((FOLDER / "zh").glob("*.yaml"))
PAIRS = {
    english: chinese
    for file in FILES
    for english, chinese in yaml.safe_load(file.read_text(encoding="utf-8")).items()
    if english not in JOINTS
}
FORMS = {english: form(english, chinese) for english, chinese in PAIRS.items()}
SAMPLES = {
    "": "name-1",
    "n": "7",
    "verb": "filter",
    "name": "Running",
    "path": "folder/file.yaml",
    "code": "some-code",
    "method": "POST",
    "klog": 'I1116 09:11:27.871585 1379 schedule_one.go:914] "Skipping extender"',
    "points": "PreFilter → Filter",
    "names": "web-1, web-2 and 3 more",
    "items": "7 bound",
    "phrase": "none",
    "phrases": "none; judged above",
    "said": "db down",
    "words": "out of order",
    "text": "what somebody wrote",
}
KEPT = {"", "n", "verb", "name", "path", "code", "method", "klog", "points", "words", "text"}
KIND = re.compile(r":\w+\}")
OPTIONAL = re.compile("<[^<>]*>")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
NARROW = re.compile("[\u4e00-\u9fff][,;:()?!]|[,;()?!][\u4e00-\u9fff]")
FORGOTTEN = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}\b")
JOINED = {"clause": "|", "item": "+", "name": "&", "title": "{title}={said}", "more": "{names}~{count}"}


def little(pairs: dict[str, str]) -> Phrases:
    """Return the phrases of a language of our own."""
    return Phrases(pairs, JOINED)


def test_english_stays_as_it_was_written() -> None:
    words = Words("en")
    assert words.phrase("3 pods matched, 2 bound") == "3 pods matched, 2 bound"
    assert not words.unknown


def test_a_sentence_is_said_with_its_values() -> None:
    assert Words("zh").phrase("20 pods matched, 19 bound") == "匹配到 20 个 Pod，其中 19 个已绑定"


def test_what_is_not_known_stays_english_and_is_counted() -> None:
    words = Words("zh")
    assert words.phrase("a sentence that nobody foresaw") == "a sentence that nobody foresaw"
    assert words.unknown == {"a sentence that nobody foresaw"}


def test_only_the_part_that_is_not_known_is_counted() -> None:
    words = Words("zh")
    assert words.phrase("add nodes; sing a song") == "请增加节点；sing a song"
    assert words.unknown == {"sing a song"}


def test_what_others_wrote_is_neither_translated_nor_counted() -> None:
    words = Words("zh")
    said = words.phrase("pod-1: event FailedScheduling at 0.34 s: 0/3 nodes are available: 3 Insufficient cpu.")
    assert said == "pod-1：0.34 s 的事件 FailedScheduling：0/3 nodes are available: 3 Insufficient cpu."
    assert not words.unknown


def test_numbers_and_marks_need_no_form() -> None:
    words = Words("zh")
    assert words.phrase("[7, 7, 6]") == "[7, 7, 6]"
    assert words.phrase("") == ""
    assert not words.unknown


def test_lists_of_names_say_how_many_are_left_out() -> None:
    said = Words("zh").phrase("terminating: web-1, web-2 and 3 more")
    assert said == "正在终止：web-1、web-2 以及另外 3 个"


def test_clauses_and_items_are_said_one_by_one() -> None:
    phrases = little({"one thing": "A", "two things": "B"})
    assert phrases.said("one thing; two things").text == "A|B"
    assert phrases.said("one thing, two things and 4 more").text == "A+B~4"


def test_a_list_with_something_unknown_is_no_list() -> None:
    assert little({"one thing": "A"}).said("one thing, or so").text == "one thing, or so"


def test_separators_inside_of_quotes_and_brackets_separate_nothing() -> None:
    phrases = little({'said "{what:text}"': 'S "{what}"', "said ({what:text})": "S ({what})", "well": "W"})
    assert phrases.said('said "this; that"; well').text == 'S "this; that"|W'
    assert phrases.said("said (this; that); well").text == "S (this; that)|W"


def test_a_title_may_stand_before_any_sentence() -> None:
    phrases = little({"nothing was measured": "N"})
    assert phrases.said("pass-through filter, 100 names: nothing was measured").text == (
        "pass-through filter, 100 names=N"
    )
    assert phrases.said("this is no title at all: nothing was measured").unknown


def test_the_form_that_asks_for_the_most_is_meant() -> None:
    phrases = little({"{a} on {b}": "1 {a} {b}", "{n:n} on {b}": "2 {n} {b}", "{a} on node {b}": "3 {a} {b}"})
    assert phrases.said("4 on x").text == "2 4 x"
    assert phrases.said("y on x").text == "1 y x"
    assert phrases.said("y on node x").text == "3 y x"


def test_a_form_with_an_unknown_part_gives_way_to_one_without() -> None:
    phrases = little({"{what:phrase} was seen today": "1 {what}", "{what:text} today": "2 {what}"})
    assert phrases.said("a cow was seen today").text == "2 a cow was seen"


def test_optional_letters_may_be_missing() -> None:
    phrases = little({"{n:n} pod<s>": "{n} P"})
    assert phrases.said("1 pod").text == "1 P"
    assert phrases.said("2 pods").text == "2 P"


def test_the_same_hole_twice_takes_the_same_value() -> None:
    phrases = little({"{a} is {a}": "{a}!"})
    assert phrases.said("x is x").text == "x!"
    assert phrases.said("x is y").unknown


def test_no_blank_is_left_between_two_chinese_characters() -> None:
    phrases = little({"in {where:phrase} now": "在 {where} 中", "the dark": "黑暗", "{n:n}": "{n}"})
    assert phrases.said("in the dark now").text == "在黑暗中"
    assert phrases.said("in 3 now").text == "在 3 中"


@pytest.mark.parametrize(
    ("english", "chinese"), [("{a} and {b}", "{a}"), ("{a}", "{a}{b}"), ("{a:nonsense}", "{a}")], ids=str
)
def test_a_form_with_wrong_holes_is_refused(english: str, chinese: str) -> None:
    with pytest.raises(ValueError, match="hole"):
        form(english, chinese)


def test_braces_in_a_sentence_are_no_holes() -> None:
    said = Words("zh").phrase("default-scheduler {queue=active, n=1}: 0 → 6")
    assert said == "default-scheduler {queue=active, n=1}：0 → 6"


def test_real_sentences_are_known() -> None:
    words = Words("zh")
    for sentence in SENTENCES:
        assert words.phrase(sentence)
    assert not words.unknown


def test_every_form_is_the_one_that_its_own_sentences_are_said_by() -> None:
    """A form that another one always takes the sentences of would never be used."""
    phrases = phrases_of("zh")
    shadowed = {}
    for english, one in FORMS.items():
        values = {name: SAMPLES[kind] for name, kind in one.kinds.items()}
        sentence = OPTIONAL.sub("", english)
        for name, value in values.items():
            sentence = re.sub(rf"\{{{name}(:\w+)?\}}", lambda _, value=value: value, sentence)  # type: ignore[misc]
        wanted = one.filled({name: phrases._hole(kind, values[name]).text for name, kind in one.kinds.items()})
        said = phrases.said(sentence)
        if said.unknown or said.text != wanted:
            shadowed[sentence] = said
    assert not shadowed


def test_numbers_and_names_survive() -> None:
    phrases, lost = phrases_of("zh"), []
    for sentence in SENTENCES:
        said = phrases.said(sentence).text
        fitting = [(one, found) for one in FORMS.values() if (found := one.pattern.fullmatch(sentence))]
        for one, found in fitting:
            if phrases._filled(one, found).text == said:
                lost += [found[name] for name, kind in one.kinds.items() if kind in KEPT and found[name] not in said]
    assert not lost


def test_every_number_of_a_sentence_is_in_its_translation() -> None:
    phrases = phrases_of("zh")
    lost = {
        sentence: number
        for sentence in SENTENCES
        for number in NUMBER.findall(sentence)
        if number not in phrases.said(sentence).text
    }
    assert not lost


def test_no_form_stands_twice() -> None:
    seen = Counter(
        next(iter(yaml.safe_load(line)))
        for file in FILES
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith('"')
    )
    assert [english for english, count in seen.items() if count > 1] == []
    assert set(seen) == set(PAIRS)


def test_chinese_is_punctuated_as_chinese() -> None:
    assert [chinese for chinese in PAIRS.values() if NARROW.search(chinese)] == []


def test_chinese_is_no_english() -> None:
    """Fields, commands and names stay; a run of small words would be a sentence that was forgotten."""
    kept = yaml.safe_load((FOLDER / "zh" / "foreign.yaml").read_text(encoding="utf-8"))
    assert [chinese for english, chinese in PAIRS.items() if FORGOTTEN.search(chinese) and english not in kept] == []


def test_what_others_say_stays_as_it_is() -> None:
    kept = yaml.safe_load((FOLDER / "zh" / "foreign.yaml").read_text(encoding="utf-8"))
    assert [english for english, same in kept.items() if KIND.sub("}", english) != same] == []


def test_no_file_is_too_long_to_read() -> None:
    assert [file.name for file in FILES if len(file.read_text(encoding="utf-8").splitlines()) >= 300] == []


def test_sentences_cost_little() -> None:
    """Measured in readings of all forms, so that a slow or busy machine does not matter; 25 of them are seen."""
    began = time.process_time()
    phrases = Phrases(PAIRS, JOINED)
    reading = time.process_time() - began
    sentences = [f"web-{number} {text}" for number in range(34) for text in SENTENCES][:10_000]
    began = time.process_time()
    for sentence in sentences:
        phrases.said(sentence)
    assert time.process_time() - began < 100 * reading


def test_what_is_no_sentence_costs_little() -> None:
    began = time.process_time()
    phrases = Phrases(PAIRS, JOINED)
    reading = time.process_time() - began
    began = time.process_time()
    assert phrases.said("pod node bound to at s, when was bound beside; matched, kept; " * 80).unknown
    assert time.process_time() - began < 100 * reading


def test_what_is_longer_than_any_sentence_is_not_looked_at() -> None:
    text = f"terminating: {'x' * CHARACTERS_MAX}"
    assert phrases_of("zh").said(text).text == text
