import re

import pytest

from harness.report.document import Callout, Code, Document, Facts, Fold, Listing, Section, Table, Text
from harness.report.render import brief, html, markdown
from harness.report.render.cells import NOTHING
from harness.report.render.formats import render
from harness.report.words import Words
from tests.unit.report.documents import HOSTILE, LONG, document, table

EN = Words("en")


def whole(made: Document) -> str:
    return markdown.render(made, EN)["report.md"].decode()


def short(made: Document) -> str:
    return brief.render(made, EN)["summary.md"].decode()


def test_the_verdict_stands_before_everything_else() -> None:
    title, _, verdict, *_ = whole(document(outcome="failed", sentence="It did not hold.")).splitlines()
    assert title == "# A title"
    assert verdict == "❌ **Failed.** It did not hold."


def test_nothing_of_a_record_becomes_markup() -> None:
    text = whole(document())
    assert "<script>" not in text
    # Between tags there is no Markdown.
    assert "[b](c)" not in re.sub(r"<summary>.*</summary>", "<summary></summary>", text)
    assert r"&lt;script&gt;alert(1)&lt;/script&gt; \| \*a\* [b]\(c)" in text
    assert set(re.findall(r"<[a-z/][^>]*>", text)) == {"<details>", "</details>", "<summary>", "</summary>", "<br>"}


def test_code_in_a_sentence_stays_code() -> None:
    text = whole(document(Section("s", "S", (Text("See `harness why <pod>` or\nask `a|b`."),))))
    assert "See `harness why <pod>` or ask `a|b`." in text


def test_text_that_looks_like_a_list_or_a_heading_is_text() -> None:
    lines = whole(
        document(Section("s", "1. S", (Text("# no"), Text("12. no"), Text("- no"), Text("1.5 s"))))
    ).splitlines()
    assert [line for line in lines if "no" in line] == [r"\# no", r"12\. no", r"\- no"]
    assert "1.5 s" in lines
    assert "## 1. S" in lines


def test_every_row_of_a_table_has_all_its_cells() -> None:
    lines = whole(document(Section("s", "S", (table(marks={0: "bad"}),)))).splitlines()
    grid = [line for line in lines if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in grid} == {5}
    assert grid[1] == "|---|---:|---|---:|"
    assert grid[2].startswith("| ❌ &lt;script")
    assert grid[2].endswith("| 1.2 | yes | 3 |")
    assert grid[3] == f"| {LONG} | {NOTHING} | no | {NOTHING} |"
    assert grid[4] == f"| two<br>lines | {NOTHING} | {NOTHING} | 12,345 |"


def test_a_long_table_is_cut_and_all_of_it_lies_beside() -> None:
    files = markdown.render(document(Section("s", "S", (table(shown=2),))), EN)
    text = files["report.md"].decode()
    assert "two<br>lines" not in text
    assert "The first 2 of 3 rows; all of them are in [tables/pods.csv](tables/pods.csv)." in text
    assert "two\nlines" in files["tables/pods.csv"].decode()
    assert list(markdown.render(document(Section("s", "S", (table(),))), EN)) == ["report.md"]


def test_tables_with_the_same_name_have_files_of_their_own() -> None:
    twins = Section("s", "S", (table("a b", shown=1), table("A/b", shown=1)))
    assert list(markdown.render(document(twins), EN)) == ["report.md", "tables/a-b.csv", "tables/A-b-2.csv"]


def test_a_picture_is_a_link_with_words_for_those_who_do_not_see_it() -> None:
    assert "![One bar (2) high.](pictures/bars.svg)" in whole(document())


def test_a_fence_is_longer_than_what_it_holds() -> None:
    text = whole(document(Section("s", "S", (Code("a\n````\nb", "yaml"),))))
    assert "`````yaml\na\n````\nb\n`````\n" in text


def test_folds_can_be_opened_and_have_empty_lines_around_markdown() -> None:
    text = whole(document())
    assert re.search(r"<details>\n<summary>More &lt;script&gt;.*</summary>\n\nfolded\n", text)
    assert text.endswith("\n\n</details>\n")


def test_the_short_form_is_short_whatever_the_report_is() -> None:
    big = Section("big", "Big", (table(rows=[(HOSTILE * 20, 1.0, True, 1)] * 5000), Listing((LONG,) * 500)), brief=True)
    more = [Section(f"s{n}", f"Section {n}", (Text("x" * 9000), table(f"t{n}"))) for n in range(30)]
    text = short(document(big, *more))
    assert len(text.splitlines()) < 60
    assert len(text.encode()) < 64_000
    assert "The whole report has more of: Big, Section " in text


def test_the_short_form_fits_into_a_comment() -> None:
    long = [Section(f"s{n}", f"Section {n}", (Text("文" * 9000),), brief=n % 2 == 0) for n in range(8)]
    text = short(document(*long))
    assert 20_000 < len(text.encode()) < 64_000
    assert "Section 7" in text


def test_the_short_form_begins_with_its_marker_and_the_verdict_and_folds_the_rest() -> None:
    open_, rest = Section("a", "Open", (Text("shown"),), brief=True), Section("b", "Rest", (Text("folded"),))
    text = short(document(rest, open_))
    marker, verdict, *_ = text.splitlines()
    assert marker == "<!-- scheduler-harness-report -->"
    assert verdict == "✅ **Passed.** It held."
    assert text.index("shown") < text.index("<details>") < text.index("folded") < text.index("</details>")
    assert "id-1, id-2" in text


def test_the_short_form_links_to_nothing_beside_it() -> None:
    text = short(document())
    assert "](" not in text.replace("]\\(", "")
    assert "**Bars**: One bar" in text


def test_the_short_form_links_to_the_page_where_there_is_one() -> None:
    both = render(document(), EN, ("md", "html"))
    assert html.FILE in both
    assert f"[The whole report]({html.FILE}) <sub>id-1, id-2</sub>" in both["summary.md"].decode()
    assert html.FILE not in render(document(), EN, ("md",))["summary.md"].decode()


def test_the_short_form_says_first_what_must_not_be_overlooked() -> None:
    found = tuple(Callout("warning", f"finding {number}") for number in range(5))
    extenders = Section("extenders", "Extenders", (Text("long"),), short=found)
    placed = Section("placement", "Placement", (Text("tables"),), short=(Text("CV 0.07, D 0.05"),))
    many = Section("many", "Many", tuple(table(f"t{n}") for n in range(9)), brief=True)
    text = short(document(many, placed, extenders))
    assert "> ⚠️ finding 0" in text
    assert text.index("finding 4") < text.index("### Many")
    assert text.index("CV 0.07, D 0.05") < text.index("### Many") < text.index("<details>")
    assert len(text.splitlines()) < 60


@pytest.mark.parametrize("folded", [False, True])
def test_the_short_form_has_the_command_however_much_else_there_is(folded: bool) -> None:
    facts = Facts(tuple((f"part {number}", f"1.{number}") for number in range(20)))
    made = (facts, Text("Again:"), Code("harness run x --seed 7", "console"))
    how = Section("how", "How", (Fold("method", made),) if folded else made, brief=folded)
    more = [Section(f"s{n}", f"Section {n}", tuple(Text("x") for _ in range(9)), brief=n % 2 == 0) for n in range(30)]
    text = short(document(*more, how))
    assert text.count("harness run x --seed 7") == 1
    assert text.index("<details>") < text.index("1.19") < text.index("harness run x --seed 7")
    assert len(text.splitlines()) < 60


def test_both_languages_are_spoken() -> None:
    text = markdown.render(document(outcome="unclear"), Words("zh"))["report.md"].decode()
    assert "**无法判断。**" in text
    assert "此处显示 120 行中的前 50 行" in text


def test_an_empty_table_is_still_a_table() -> None:
    assert "| pod | p99 (ms) | ready | count |\n|---|---|---|---|\n" in whole(
        document(Section("s", "S", (Table("t", "T", table().columns, ()),)))
    )
