"""What people read of a report: no column that is the same in every row of every table."""

from harness.report.document import Cell, Column, Document, Fold, Section, Table


def by_run(name: str, *rows: tuple[Cell, ...]) -> Table:
    columns = tuple(Column(key, key) for key in ("scenario", "variant", "repeat", "pods"))
    return Table(name, name, columns, rows, filters=("variant",))


def of(*tables: Table) -> Document:
    sections = (Section("a", "A", (tables[0],)), Section("b", "B", (Fold("more", tables[1:]),)))
    return Document("title", "sentence", "passed", "en", sections, ("id",))


def keys(document: Document) -> list[list[str]]:
    return [[column.key for column in table.columns] for table in document.tables()]


def test_what_tells_no_run_from_another_is_for_files_only() -> None:
    made = of(by_run("one", ("s", "default", 1, 7)), by_run("two", ("s", "default", 1, 8), ("s", "default", 1, 9)))
    read = made.for_people()
    assert keys(read) == [["pods"], ["pods"]]
    assert [table.rows for table in read.tables()] == [((7,),), ((8,), (9,))]
    assert keys(made)[0] == ["scenario", "variant", "repeat", "pods"]


def test_what_differs_anywhere_stays_everywhere() -> None:
    made = of(by_run("one", ("s", "default", 1, 7)), by_run("two", ("s", "extender", 1, 8)))
    assert keys(made.for_people()) == [["variant", "pods"], ["variant", "pods"]]


def test_tables_that_are_not_by_run_keep_what_they_are_about() -> None:
    compared = Table("comparison", "C", (Column("variant", "v"), Column("pods", "p")), (("default", 3),))
    made = of(by_run("one", ("s", "default", 1, 7)), compared)
    assert keys(made.for_people()) == [["pods"], ["variant", "pods"]]
