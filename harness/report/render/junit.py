"""A report as JUnit XML: a suite per group of checks, as continuous integration shows it. Pure."""

from collections.abc import Mapping, Sequence
from xml.etree import ElementTree as ET

from harness.report.document import Check, Document
from harness.report.render.legal import legal

FILE = "junit.xml"


def render(document: Document) -> dict[str, bytes]:
    """Return the checks of a report."""
    groups: dict[str, list[Check]] = {}
    for check in document.checks:
        groups.setdefault(check.group, []).append(check)
    root = ET.Element("testsuites", {"name": legal(document.title), **_counts(document.checks)})
    for name, checks in groups.items():
        suite = ET.SubElement(root, "testsuite", {"name": legal(name), **_counts(checks)})
        _properties(suite, _shared(checks))
        for check in checks:
            _case(suite, check)
    ET.indent(root)
    return {FILE: ET.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"}


def _case(suite: ET.Element, check: Check) -> None:
    names = {"classname": legal(check.group), "name": legal(check.name), "time": f"{check.seconds:.3f}"}
    case = ET.SubElement(suite, "testcase", names)
    _properties(case, check.facts)
    if check.outcome == "failed":
        failure = ET.SubElement(case, "failure", {"message": legal(check.message), "type": "ExpectationFailed"})
        failure.text = legal("\n".join(part for part in (check.message, check.detail) if part))
    elif check.outcome == "skipped":
        ET.SubElement(case, "skipped", {"message": legal(check.message or check.detail)})
    elif check.detail:
        ET.SubElement(case, "system-out").text = legal(check.detail)


def _properties(parent: ET.Element, facts: Mapping[str, str]) -> None:
    if facts:
        properties = ET.SubElement(parent, "properties")
        for name, value in facts.items():
            ET.SubElement(properties, "property", {"name": legal(name), "value": legal(value)})


def _shared(checks: Sequence[Check]) -> dict[str, str]:
    """Return the facts that all checks have in common."""
    return {
        name: value
        for name, value in checks[0].facts.items()
        if all(check.facts.get(name) == value for check in checks)
    }


def _counts(checks: Sequence[Check]) -> dict[str, str]:
    outcomes = [check.outcome for check in checks]
    return {
        "tests": str(len(checks)),
        "failures": str(outcomes.count("failed")),
        "errors": "0",
        "skipped": str(outcomes.count("skipped")),
        "time": f"{sum(check.seconds for check in checks):.3f}",
    }
