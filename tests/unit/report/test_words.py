"""The catalogue: every text in both languages, none missing, none too many."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from string import Formatter

import pytest
import yaml

import harness
from harness.report.words import FOLDER, LANGUAGES, Words, catalogue, language_of_here

HARNESS = Path(harness.__file__).parent
FILES = sorted(FOLDER.glob("*.yaml"))
KEY = re.compile(r"^(?P<topic>[a-z]+)\.[\w.-]+$")
TEMPLATE_KEY = re.compile(r"""["'](?P<key>[a-z]+\.[\w.-]+)["']""")
NARROW = re.compile("[\u4e00-\u9fff][,;:()?!]|[,;()?!][\u4e00-\u9fff]|[\u4e00-\u9fff]\\.(?!\\w)")
FORGOTTEN = re.compile(r"\b[a-z]{2,} [a-z]{2,} [a-z]{2,} [a-z]{2,}\b")
LATIN = re.compile("[A-Za-z]{2,}")
HOLE = re.compile(r"\{[^{}]*\}")
CHINESE = re.compile("[\u4e00-\u9fff]")
OTHER_WORDS = re.compile("未调度|毫秒|微秒|百分位|答复|不变式|(?<![A-Za-z.])Node(?! 对象)(?![A-Za-z])")
SENTENCE_WORDS = 5
"""An English text of so many words says something that has a Chinese form; a shorter one may be a term."""


def _holes(text: str) -> set[str | None]:
    return {name for _, name, _, _ in Formatter().parse(text) if name is not None}


def _sources() -> Iterator[ast.AST]:
    for folder in ("report", "cli", "pytest_plugin"):
        for file in sorted((HARNESS / folder).rglob("*.py")):
            yield from ast.walk(ast.parse(file.read_text(encoding="utf-8")))


def _pattern(text: ast.JoinedStr) -> str:
    """Return what the keys are like that an f-string makes."""
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in text.values)


def _asked_for() -> tuple[set[str], set[str]]:
    """Return the keys, and the patterns of keys, that calls of `words` name."""
    keys, patterns = set(), set()
    for node in _sources():
        if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "words" and node.args:
            if isinstance(node.args[0], ast.Constant):
                keys.add(str(node.args[0].value))
            elif isinstance(node.args[0], ast.JoinedStr):
                patterns.add(_pattern(node.args[0]))
    return keys, patterns


def _named() -> tuple[set[str], set[str]]:
    """Return every text in the code that may be a key or the beginning of some, and patterns of keys."""
    texts, patterns = set(), set()
    for node in _sources():
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            patterns.add(_pattern(node))
    for file in HARNESS.glob("report/**/*"):
        if file.suffix in {".j2", ".html", ".js", ".md"}:
            texts |= set(TEMPLATE_KEY.findall(file.read_text(encoding="utf-8")))
    return texts, {one for one in patterns if KEY.match(re.sub(r"\.\+|\\", "x", one)) and not one.startswith(".+")}


def test_every_text_is_there_in_every_language() -> None:
    wrong = {
        key: texts
        for key, texts in catalogue().items()
        if set(texts) != set(LANGUAGES) or not all(isinstance(text, str) for text in texts.values())
    }
    assert not wrong
    # What joins sentences is a blank in one language and nothing in another.
    assert {key: texts for key, texts in catalogue().items() if texts["en"].strip() and not texts["zh"]} == {}


def test_every_language_has_the_same_holes() -> None:
    wrong = {key: texts for key, texts in catalogue().items() if _holes(texts["en"]) != _holes(texts["zh"])}
    assert not wrong


def test_keys_begin_with_a_topic_that_one_file_has() -> None:
    owners: dict[str, set[str]] = {}
    for file in FILES:
        for key in yaml.safe_load(file.read_text(encoding="utf-8")):
            assert KEY.match(key), f"{file.name}: {key}"
            owners.setdefault(key.partition(".")[0], set()).add(file.name)
    assert {topic: files for topic, files in owners.items() if len(files) > 1} == {}


def test_no_key_stands_twice() -> None:
    """A YAML file takes the last one without a word."""
    seen = Counter(
        line.split(": ")[0].rstrip(":\n")
        for file in FILES
        for line in file.read_text(encoding="utf-8").splitlines()
        if re.match(r"[a-z]+\.", line)
    )
    assert [key for key, count in seen.items() if count > 1] == []
    assert set(seen) == set(catalogue())


def test_every_key_that_the_code_asks_for_is_there() -> None:
    keys, patterns = _asked_for()
    assert sorted(keys - set(catalogue())) == []
    assert [one for one in patterns if not any(re.fullmatch(one, key) for key in catalogue())] == []


def test_no_text_is_left_that_nobody_asks_for() -> None:
    texts, patterns = _named()
    beginnings = tuple(text for text in texts if KEY.match(f"{text}x") and text not in catalogue())
    unused = [
        key
        for key in catalogue()
        if key not in texts and not key.startswith(beginnings) and not any(re.fullmatch(one, key) for one in patterns)
    ]
    assert unused == []


def test_chinese_is_punctuated_as_chinese() -> None:
    assert {key: texts["zh"] for key, texts in catalogue().items() if NARROW.search(texts["zh"])} == {}


def test_chinese_is_no_english() -> None:
    """Terms of Kubernetes, names and commands stay; sentences do not."""
    left = {
        key: texts["zh"]
        for key, texts in catalogue().items()
        if FORGOTTEN.search(texts["zh"])
        or (len(LATIN.findall(HOLE.sub("", texts["en"]))) >= SENTENCE_WORDS and not CHINESE.search(texts["zh"]))
    }
    assert left == {}


def test_no_blank_stands_between_two_chinese_characters() -> None:
    gaps = re.compile("[\u4e00-\u9fff，。；：、（）] [\u4e00-\u9fff，。；：、（）]")  # noqa: RUF001 - Chinese marks
    assert {key: texts["zh"] for key, texts in catalogue().items() if gaps.search(texts["zh"])} == {}


def test_one_word_stands_for_one_thing() -> None:
    """The glossary is at the top of `zh/verdicts.yaml`."""
    texts = {key: text["zh"] for key, text in catalogue().items()}
    for file in sorted((FOLDER / "zh").glob("*.yaml")):
        texts |= yaml.safe_load(file.read_text(encoding="utf-8"))
    others = {key: text for key, text in texts.items() if OTHER_WORDS.search(HOLE.sub("", text))}
    assert others == {}


def test_every_text_can_be_filled() -> None:
    for language in LANGUAGES:
        words = Words(language)
        for key, texts in catalogue().items():
            values: dict[str, object] = dict.fromkeys(filter(None, _holes(texts["en"])), "{value}")
            text = words(key, **values)
            assert text.count("{value}") >= len(values), key


def test_no_blank_is_left_before_a_chinese_value() -> None:
    words = Words("zh")
    told = words("run.verdict.contradiction", title="a", expected="无", seen="3 例")
    assert told == "a：期望无，实际 3 例"  # noqa: RUF001 - Chinese marks
    # A value is left as it is.
    assert "好 好" in words("run.verdict.contradiction", title="a", expected="好 好", seen="无")


@pytest.mark.parametrize(
    ("variable", "value", "language"),
    [
        ("LANG", "zh_CN.UTF-8", "zh"),
        ("LC_ALL", "zh_TW", "zh"),
        ("LANG", "C.UTF-8", "en"),
        ("LANG", "de_DE.UTF-8", "en"),
        ("LANG", "", "en"),
        ("LANG", "nonsense", "en"),
    ],
)
def test_the_language_of_here_is_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, language: str
) -> None:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, value)
    assert language_of_here() == language
