"""Checks names and labels by the rules of the API server, so that an object that can't exist is refused at load."""

import re

from harness.scenario.words import shown

NAME_CHARACTERS_MAX = 253
LABEL_CHARACTERS_MAX = 63
INDEX = "{index}"

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?")
_NATIVE_RESOURCE = re.compile(r"cpu|memory|pods|ephemeral-storage|hugepages-[0-9]+[KMG]i")


def check_name(value: str) -> str:
    """Return an object's name unchanged.

    Raises:
        ValueError: Kubernetes would refuse it.
    """
    if len(value) > NAME_CHARACTERS_MAX:
        raise ValueError(f"the name has {len(value)} characters, at most {NAME_CHARACTERS_MAX} are allowed")
    if not _NAME.fullmatch(value):
        raise ValueError(
            f'{shown(value)} is not a Kubernetes name; use lower case letters, digits, "-" and ".", '
            "with a letter or digit at both ends"
        )
    return value


def check_namespace(value: str) -> str:
    """Return a namespace's name unchanged.

    Raises:
        ValueError: Kubernetes would refuse it.
    """
    if "." in value or len(value) > LABEL_CHARACTERS_MAX:
        raise ValueError(f'{shown(value)} is not a namespace; use at most 63 lower case letters, digits and "-"')
    return check_name(value)


def check_name_pattern(value: str) -> str:
    """Return a name pattern, in which `{index}` stands for a number, unchanged.

    Raises:
        ValueError: what it expands to is no Kubernetes name.
    """
    try:
        check_name(value.replace(INDEX, "1"))
    except ValueError:
        raise ValueError(
            f'{shown(value)} does not make Kubernetes names; use lower case letters, digits, "-", "." and {INDEX}, '
            "with a letter or digit at both ends"
        ) from None
    return value


def check_label_key(value: str) -> str:
    """Return a label or taint key unchanged.

    Raises:
        ValueError: Kubernetes would refuse it.
    """
    prefix, slash, name = value.rpartition("/")
    prefix_fits = not slash or (len(prefix) <= NAME_CHARACTERS_MAX and _NAME.fullmatch(prefix))
    if not prefix_fits or len(name) > LABEL_CHARACTERS_MAX or not _LABEL.fullmatch(name):
        raise ValueError(
            f'{shown(value)} is not a label key; use at most 63 letters, digits, "-", "_" and ".", '
            "after an optional domain and /"
        )
    return value


def check_label_value(value: str) -> str:
    """Return a label value unchanged.

    Raises:
        ValueError: Kubernetes would refuse it.
    """
    if value and (len(value) > LABEL_CHARACTERS_MAX or not _LABEL.fullmatch(value)):
        raise ValueError(f'{shown(value)} is not a label value; use at most 63 letters, digits, "-", "_" and "."')
    return value


def check_label_pattern(value: str) -> str:
    """Return a label value, in which `{index}` may stand for a number, unchanged.

    Raises:
        ValueError: what it expands to is no label value.
    """
    try:
        check_label_value(value.replace(INDEX, "1"))
    except ValueError:
        raise ValueError(
            f'{shown(value)} does not make label values; use at most 63 letters, digits, "-", "_", "." and {INDEX}'
        ) from None
    return value


def check_resource(value: str) -> str:
    """Return the name of a resource unchanged.

    Raises:
        ValueError: it is neither a native resource nor an extended one with a domain.
    """
    if not _NATIVE_RESOURCE.fullmatch(value):
        check_extended_resource(value)
    return value


def check_extended_resource(value: str) -> str:
    """Return the name of an extended resource (or of ephemeral storage and huge pages) unchanged.

    Raises:
        ValueError: it has no domain, or is a resource that has a field of its own.
    """
    if value in ("cpu", "memory", "pods"):
        raise ValueError(f"{shown(value)} is no extended resource; the node group has a field for it")
    if not _NATIVE_RESOURCE.fullmatch(value) and ("/" not in value or not _is_label_key(value)):
        raise ValueError(f"{shown(value)} is not a resource; an extended one has a domain, such as nvidia.com/gpu")
    return value


def _is_label_key(value: str) -> bool:
    try:
        check_label_key(value)
    except ValueError:
        return False
    return True
