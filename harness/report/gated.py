"""Puts what came of `--fail-on` into a report, so that no file says passed where a build failed. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.report.document import Callout, Check, Document
from harness.report.gate import Condition, Finding
from harness.report.words import Words

GROUP = "--fail-on"
CHAPTER = "differences"
_NAMED_MAX = 3


@dataclass(frozen=True)
class Gate:
    """What came of the conditions of a comparison.

    Args:
        wanted: the conditions; none if nobody asked for any.
        found: what is hit or cannot be decided.
        strict: whether a condition that cannot be decided fails too.
    """

    wanted: tuple[Condition, ...]
    found: tuple[Finding, ...]
    strict: bool = False

    @property
    def failed(self) -> bool:
        """Return whether the build fails."""
        return any(one.hit or self.strict for one in self.found)

    @property
    def titles(self) -> list[str]:
        """Return the conditions as a person writes them, each once; what was found unasked stands first."""
        asked = [one.title for one in self.wanted]
        unasked = [one.condition for one in self.found if one.condition not in asked]
        return list(dict.fromkeys([*unasked, *asked]))

    def callouts(self, words: Words) -> list[Callout]:
        """Return every finding, and if none is hit what came of the conditions."""
        return [*(self._finding(one, words) for one in self.found), *self._conclusion(words)]

    def put_into(self, document: Document, words: Words) -> Document:
        """Return a report that says it: in its sentence and outcome, its checks, and first in its chapter."""
        if not self.titles:
            return document
        told = self._sentence(words)
        sentences = [told, document.sentence] if self.failed else [document.sentence, told]
        callouts = tuple(self.callouts(words))
        return replace(
            document,
            sentence=words("formats.sentence.join").join(sentences),
            outcome="failed" if self.failed else document.outcome,
            sections=tuple(
                replace(section, blocks=(*callouts, *section.blocks)) if section.name == CHAPTER else section
                for section in document.sections
            ),
            checks=(*(self._check(title, words) for title in self.titles), *document.checks),
        )

    def _finding(self, one: Finding, words: Words) -> Callout:
        kind = "hit" if one.hit else "undecided"
        text = words(f"compare.gate.{kind}", condition=one.condition, side=one.side, text=one.text)
        return Callout("bad" if one.hit else "warning", text)

    def _conclusion(self, words: Words) -> Iterator[Callout]:
        """Yield what came of the conditions when none is hit; of one that stayed open nobody may read that it held."""
        if any(one.hit for one in self.found):
            return
        unsettled = {one.condition for one in self.found}
        if held := [title for title in self.titles if title not in unsettled]:
            yield Callout("good", words("compare.gate.passed", conditions=",".join(held)))
        if unsettled:
            names = ",".join(title for title in self.titles if title in unsettled)
            kind = "open_fails" if self.strict else "open"
            yield Callout("bad" if self.strict else "warning", words(f"compare.gate.{kind}", conditions=names))

    def _sentence(self, words: Words) -> str:
        hits = [one for one in self.found if one.hit]
        some = hits or self.found
        if not some:
            return words("compare.gate.sentence_passed", conditions=",".join(self.titles))
        told = [words("run.said", where=f"{one.condition}, {one.side}", text=one.text) for one in some[:_NAMED_MAX]]
        if len(some) > _NAMED_MAX:
            told.append(words("run.more", count=len(some) - _NAMED_MAX))
        return words(f"compare.gate.sentence_{'hit' if hits else 'open'}", told=words("run.join").join(told))

    def _check(self, title: str, words: Words) -> Check:
        mine = [one for one in self.found if one.condition == title]
        hits = [one for one in mine if one.hit]
        told = [words("run.said", where=one.side, text=one.text) for one in hits or mine]
        failed = hits or (mine and self.strict)
        return Check(
            group=GROUP,
            name=title,
            outcome="failed" if failed else "skipped" if mine else "passed",
            message=words("run.join").join(told),
            facts={"kind": "fail-on"},
        )
