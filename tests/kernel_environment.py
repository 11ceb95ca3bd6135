"""The environment in which notebooks run as tests: offline, without progress bars, away from personal settings.

As a plugin of pytest, which both conftest.py import, it prepares the kernels of all tests.
"""

import multiprocessing
import os
import tempfile
from pathlib import Path

import pytest

LOOPBACK = ["127.0.0.1", "::1"]  # a kernel talks to whoever runs it
START_METHOD = "COURSE_START_METHOD"
ROOT = Path(__file__).resolve().parent.parent

# A kernel runs this before the first cell. Outputs must not depend on how many CPUs a machine has.
STARTUP = f"""
import multiprocessing, os, warnings, pytest_socket
pytest_socket.socket_allow_hosts({LOOPBACK}, allow_unix_socket=True)
multiprocessing.set_start_method(os.environ.get("{START_METHOD}"), force=True)
warnings.filterwarnings("ignore", message="This DataLoader will create")
del multiprocessing, os, warnings, pytest_socket
"""


def kernel_environment(directory: Path, startup_code: str = STARTUP) -> dict[str, str]:
    """Prepare `directory` as the IPython settings of the kernels, and return the variables that make them use it."""
    startup = directory / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "00-offline.py").write_text(startup_code, encoding="utf-8")
    return {
        "IPYTHONDIR": str(directory),
        # This checkout, whichever the environment has installed: several may share one.
        "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
        "COURSE_PROGRESS": "0",
        "COURSE_MY_LOADER": str(directory / "my_loader.py"),  # never the file of a reader
        # What is used with a mouse has an identity of its own each time it is shown.
        "COURSE_WIDGETS": "0",
        "HF_HUB_OFFLINE": "1",
        # Sums of floats depend on how many threads share them; outputs must not depend on a machine's cores.
        "OMP_NUM_THREADS": "1",
        # Tests share the cores already: threads of a tokenizer on top would only wait for one another.
        "TOKENIZERS_PARALLELISM": "false",
    }


def pytest_addoption(parser: pytest.Parser) -> None:
    methods = multiprocessing.get_all_start_methods()
    parser.addoption("--start-method", choices=methods, help="how tests and notebooks start other processes")


def pytest_configure(config: pytest.Config) -> None:
    """Kernels inherit the environment of the process that starts them; and what notebooks are not compared by."""
    config.option.nbval_sanitize_with = str(Path(__file__).with_name("sanitize.cfg"))
    directory = tempfile.TemporaryDirectory(prefix="course-ipython-")
    config.add_cleanup(directory.cleanup)
    os.environ.update(kernel_environment(Path(directory.name)))
    if method := config.getoption("start_method"):
        multiprocessing.set_start_method(method, force=True)
        os.environ[START_METHOD] = method
