"""How a pytest that a test starts gets the plugin, even where the package was installed before it had one."""

from importlib.metadata import entry_points

WITH_PLUGIN = () if entry_points(group="pytest11", name="smlocal") else ("-p", "smlocal.pytest_plugin.plugin")
