"""What a run calls things on a cluster that it shares with others, and back: namespaces, schedulers. Pure."""

import re
from dataclasses import dataclass

from harness.errors import InputError

RUN_LABEL = "scheduler-harness.io/run"
AS_LABEL = "scheduler-harness.io/as"
DEFAULT_SCHEDULER = "default-scheduler"
LONGEST = 63
SERVER = "(server)"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Who a ServiceAccount is, and the group of all of one namespace.
_ACCOUNT = re.compile(r"^(system:serviceaccounts?:)([^:]+)(:|$)")


@dataclass(frozen=True)
class Names:
    """The names of one run. `host` and `port` are the API server's, which no record tells."""

    run: str
    host: str = ""
    port: int = 0

    @property
    def prefix(self) -> str:
        """Return what the name of everything that is the run's own starts with."""
        return f"h-{self.run}-"

    @property
    def selector(self) -> str:
        """Return the label selector of everything that is the run's own."""
        return f"{RUN_LABEL}={self.run}"

    def real(self, namespace: str) -> str:
        """Return the namespace that stands for a scenario's one; an own one stands for itself.

        Raises:
            InputError: the scenario's name leaves no room for ours.
        """
        if self.is_own(namespace):
            return namespace
        if len(self.prefix) + len(namespace) > LONGEST:
            room = LONGEST - len(self.prefix)
            raise InputError(
                f'namespace "{namespace}": {len(namespace)} characters; on an existing cluster a scenario\'s '
                f"namespace may have {room}, because {self.prefix} goes before it"
            )
        return f"{self.prefix}{namespace}"

    def is_own(self, namespace: str) -> bool:
        """Tell whether a namespace of the cluster is the run's."""
        return namespace.startswith(self.prefix)

    def shown(self, namespace: str) -> str:
        """Return what the scenario calls a namespace of the cluster."""
        return namespace.removeprefix(self.prefix)

    def scheduler(self, name: str) -> str:
        """Return the name that a scheduler of the run gets, so that it takes no pods of anybody else's."""
        return self.prefix.removesuffix("-") if name == DEFAULT_SCHEDULER else f"{self.prefix}{name}"

    def account(self, text: str) -> str:
        """Return the user or group of a ServiceAccount with its namespace translated; any other text as it is."""
        return _ACCOUNT.sub(lambda found: f"{found[1]}{self.real(found[2])}{found[3]}", text)

    def told(self, text: str) -> str:
        """Return a text of the cluster in the scenario's words, without the server's address."""
        text = text.replace(self.prefix, "")
        text = re.sub(rf"\bh-{self.run}\b", DEFAULT_SCHEDULER, text)
        if not self.host:
            return text
        host = re.escape(self.host)
        text = re.sub(rf"\[?{host}\]?:{self.port}\b", SERVER, text)
        text = re.sub(rf"host='{host}', port={self.port}\b", SERVER, text)
        # Loopback is also where our own processes are, and says nothing.
        return text if self.host in LOOPBACK else text.replace(self.host, SERVER)
