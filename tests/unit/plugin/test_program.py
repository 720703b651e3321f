from pathlib import Path

from harness.plugin.program import main_source
from harness.plugin.source import PluginSource
from tests.unit.plugin.given import plugin


def test_the_program_registers_each_plugin_under_its_name(tmp_path: Path) -> None:
    named = PluginSource.parse(f"go:{plugin(tmp_path / 'a')}")
    unnamed = PluginSource.parse(f"go:{plugin(tmp_path / 'b', '')}:Other")
    source = main_source([named, unnamed], ["plugin.test/a", "example.com/b"])
    assert 'plugin0 "plugin.test/a"' in source
    assert 'plugin1 "example.com/b"' in source
    assert "app.WithPlugin(plugin0.Name, plugin0.New)," in source
    assert 'app.WithPlugin("colors", plugin1.Other),' in source
    assert 'names := []string{plugin0.Name, "colors"}' in source
