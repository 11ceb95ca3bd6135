"""All tests run offline: this process by pytest-socket's options, the notebooks' kernels by their startup file."""

from kernel_environment import pytest_configure

__all__ = ["pytest_configure"]
