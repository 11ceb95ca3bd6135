"""Notebooks are tests, also when only this folder is run: in the same environment as all others."""


def pytest_addoption(pluginmanager):
    pluginmanager.import_plugin("kernel_environment")
