"""Notebooks are tests, also when only this folder is run: in the same environment as all others."""

from kernel_environment import pytest_collection_modifyitems, pytest_configure

__all__ = ["pytest_collection_modifyitems", "pytest_configure"]
