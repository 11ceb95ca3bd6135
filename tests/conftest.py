"""All tests run offline: this process by pytest-socket's options, the notebooks' kernels by their startup file."""

from hypothesis import settings

# A property that takes long on a busy machine is no failure; and nothing is written into a checkout.
settings.register_profile("course", deadline=None, database=None)
settings.load_profile("course")


def pytest_addoption(pluginmanager):
    """Import what prepares the kernels: once, also where the conftest.py of the notebooks does the same."""
    pluginmanager.import_plugin("kernel_environment")
