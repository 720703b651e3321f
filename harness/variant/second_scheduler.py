"""A second kube-scheduler beside the stock one, with the identity, the rights and the configuration of its manifest."""

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.cluster import kubeconfig
from harness.cluster.base import Cluster, Program, RunsImages
from harness.errors import ApiError, InputError, VariantError
from harness.extender.cassette.command import without_secrets
from harness.extender.traffic import Traffic
from harness.kube import NOT_FOUND, Object
from harness.variant.base import NOTHING_BROUGHT, Installed, SchedulerConfig, Setup
from harness.variant.config import DEFAULT_SCHEDULER, proven, render, runs_schedulers, scheduler_names, stock
from harness.variant.extender import connected_all, seen_by_scheduler, settings_of, told
from harness.variant.manifest import SchedulerManifest, read_manifest
from harness.variant.program import check_program, program_of, unproven
from harness.variant.rights import missing_rights

SHIPPED = Path(__file__).parent / "manifests" / "second-scheduler.yaml"
TOKEN_SECONDS = 24 * 3600
SERVER_ERRORS = 500


class SecondSchedulerVariant:
    """Two schedulers; pods choose by `spec.schedulerName`."""

    name = "second-scheduler"

    @contextlib.contextmanager
    def install(self, cluster: Cluster, setup: Setup = NOTHING_BROUGHT) -> Iterator[Installed]:
        """Apply the manifest, take on its identity, and run both schedulers."""
        runner = runs_schedulers(cluster, self.name)
        check_program(setup.scheduler)
        brought, manifest = manifest_of(setup)
        check_health(setup, manifest)
        settings, notes = settings_of(setup.scheduler_config or SchedulerConfig(manifest.config, manifest.where))
        entries = settings.pop("extenders", None) or []
        with contextlib.ExitStack() as stack:
            for item in manifest.objects:
                _furnish(stack, cluster, item, brought.where)
            identity = _identity(cluster, manifest, brought.where)
            _check_rights(cluster, manifest, brought.where)
            extenders = stack.enter_context(connected_all(cluster, identity, setup, setup.extenders, entries))
            config = render(identity, seen_by_scheduler(extenders), settings)
            names = scheduler_names(config)
            if DEFAULT_SCHEDULER in names:
                raise VariantError(
                    f"{manifest.where}: a profile is called {DEFAULT_SCHEDULER!r}, which the stock scheduler is called "
                    "already; both would take the same pods. Give it a schedulerName of its own"
                )
            first = stack.enter_context(stock(cluster, self.name))
            program = _as(identity, program_of(setup.scheduler, cluster.versions))
            second = stack.enter_context(proven(runner, config, self.name, program, manifest.workload))
            silent = unproven(without_secrets(setup.scheduler or ""), program)
            yield Installed(
                variant=self.name,
                schedulers={DEFAULT_SCHEDULER: first, **dict.fromkeys(names, second)},
                config=f"{first.config}---\n{second.config}",
                traffic=Traffic(extenders) if extenders else None,
                notes=(*notes, *_notes(cluster, manifest, settings), *told(extenders), *silent),
                asks_for=names[0],
            )


def manifest_of(setup: Setup) -> tuple[SchedulerConfig, SchedulerManifest]:
    """Return the manifest that was brought, or the shipped one, as a text and taken apart.

    Raises:
        InputError: it does not describe a scheduler.
    """
    brought = setup.manifest or SchedulerConfig(SHIPPED.read_text(encoding="utf-8"), str(SHIPPED))
    return brought, read_manifest(brought.text, brought.where)


def check_health(setup: Setup, manifest: SchedulerManifest) -> None:
    """Refuse a manifest whose scheduler would be ended by its own probes; of a program of one's own, nobody knows.

    Raises:
        InputError: a probe asks where nobody answers; says what it asks and what is served.
    """
    if setup.scheduler is None and manifest.misdirected:
        raise InputError("\n".join(f"{manifest.described}: {text}" for text in manifest.misdirected))


def _furnish(stack: contextlib.ExitStack, cluster: Cluster, item: Object, where: str) -> None:
    """Create an object of the manifest for as long as the stack lasts.

    Raises:
        InputError: the API server refuses it; says what of the manifest it is.
    """
    try:
        stack.enter_context(cluster.furnish([item]))
    except ApiError as error:
        if error.status >= SERVER_ERRORS:
            raise
        raise InputError(f"{where}: {item['kind']} {_placed(item)} cannot be created: {error.reason}") from error


def _check_rights(cluster: Cluster, manifest: SchedulerManifest, where: str) -> None:
    missing = missing_rights(cluster.kube, manifest.namespace, manifest.service_account)
    if missing:
        account = f"ServiceAccount {manifest.namespace}/{manifest.service_account}"
        parts = [f"ClusterRole {role} is not bound to it ({', '.join(rights)})" for role, rights in missing.items()]
        raise VariantError(f"{where}: {account} lacks rights that a scheduler needs: {'; '.join(parts)}")


def _identity(cluster: Cluster, manifest: SchedulerManifest, where: str) -> Path:
    """Return a kubeconfig that authenticates as the ServiceAccount of the manifest, by a token of its own.

    Raises:
        InputError: there is no such ServiceAccount.
    """
    account = f"/api/v1/namespaces/{manifest.namespace}/serviceaccounts/{manifest.service_account}"
    body = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": TOKEN_SECONDS},
    }
    try:
        token = cluster.kube.request("POST", f"{account}/token", body=body)["status"]["token"]
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        known = [item for item in manifest.objects if item["kind"] == "ServiceAccount"]
        raise InputError(
            f"{where}: {manifest.workload.item['kind']} {manifest.name} runs as ServiceAccount "
            f"{manifest.namespace}/{manifest.service_account}, which is not there; the manifest has: "
            f"{', '.join(map(_placed, known)) or 'none'}"
        ) from error
    return kubeconfig.with_token(cluster.kubeconfig, cluster.folder / f"{manifest.name}.kubeconfig", token)


def _placed(item: Object) -> str:
    metadata = item["metadata"]
    return "/".join(filter(None, (metadata.get("namespace"), metadata.get("name"))))


def _as(identity: Path, program: Program | None) -> Program | None:
    """Return a program of a user's own that is told the manifest's identity; the stock one reads its configuration."""
    return replace(program, kubeconfig=identity) if program else None


def _notes(cluster: Cluster, manifest: SchedulerManifest, settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield what of a manifest does not count here."""
    yield from _elections(settings, manifest)
    yield from _beside(manifest)
    if manifest.flags and not isinstance(cluster, RunsImages):
        yield (
            f"{manifest.described}: no container is run here and every scheduler gets the same flags, so these of its "
            f"command do not count: {' '.join(manifest.flags)}"
        )


def _beside(manifest: SchedulerManifest) -> Iterator[str]:
    item = manifest.workload.item
    spec = item["spec"] if item["kind"] == "Pod" else item["spec"]["template"]["spec"]
    others = [str(one["name"]) for one in spec["containers"] if one["name"] != manifest.workload.container]
    if others:
        yield f"{manifest.name}: not run beside it: {', '.join(others)}; the extenders of this run stand in for that"


def _elections(settings: Mapping[str, Any], manifest: SchedulerManifest) -> Iterator[str]:
    if (settings.get("leaderElection") or {}).get("leaderElect"):
        yield f"{manifest.where}: leaderElect is true; here one of a kind runs, so nobody is elected"
