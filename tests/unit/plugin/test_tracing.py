import pytest

from harness import process, toolchain
from harness.cluster.embedded.releases import releases
from harness.errors import BuildError
from harness.paths import shipped
from harness.plugin import tracing
from harness.plugin.tracing import traced

SOURCE = "".join(
    f"func (f *frameworkImpl) {name}() {{\n}}\n" for name in (*tracing._RENAMED, *tracing._RENAMED_SINCE)
) + ("\t\tf.pluginsMap[name] = p\n\t\tf.runFilterPlugin()\n")


def test_every_function_that_calls_a_plugin_is_renamed_where_it_is_made() -> None:
    edited = traced(SOURCE, "1.36", "here")
    assert "func (f *frameworkImpl) untracedRunFilterPlugin() {" in edited
    assert "func (f *frameworkImpl) untracedPreEnqueuePlugins() {" in edited
    assert "func (f *frameworkImpl) untracedComputeBatchablePlugins() {" in edited
    assert "f.pluginsMap[name] = p\n\t\ttraceArguments(name, p, args)\n\t\tf.runFilterPlugin()" in edited


def test_what_a_version_does_not_have_is_left_alone() -> None:
    assert "untracedComputeBatchablePlugins" not in traced(SOURCE, "1.34", "here")


@pytest.mark.parametrize("broken", [SOURCE.replace(") runFilterPlugin(", ") filter("), SOURCE + SOURCE])
def test_a_source_that_is_not_as_expected_is_told_with_its_version(broken: str) -> None:
    with pytest.raises(BuildError, match=r"^Kubernetes 1\.99\.0, framework\.go: .* seen [02] times, once expected"):
        traced(broken, "1.36", "Kubernetes 1.99.0, framework.go")


def test_a_hook_takes_the_place_of_every_renamed_function() -> None:
    hooks = "".join(path.read_text() for path in (shipped("plugins") / "hooks").glob("*.go"))
    for name in (*tracing._RENAMED, *tracing._RENAMED_SINCE):
        assert f"func (f *frameworkImpl) {name}(" in hooks, name


def test_the_writer_passes_its_own_tests() -> None:
    source = shipped("plugins") / "trace"
    go = toolchain.find(max((known.go for known in releases()), key=toolchain.version_key))
    output = process.run([str(go.program), "test", "-count=1", "./..."], cwd=source, env=go.environment())
    assert output.startswith("ok"), output
