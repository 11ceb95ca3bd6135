"""The package works wherever and however it is started."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context

import pytest

from course_lib.foundation import count_pairs

PROGRAM = """
import importlib, pathlib, course_lib
package = pathlib.Path(course_lib.__file__).parent
for path in sorted(package.rglob("*.py")):
    name = ".".join(path.relative_to(package.parent).with_suffix("").parts)
    importlib.import_module(name.removesuffix(".__init__"))
from course_lib.foundation import CharTokenizer, load_documents, load_text
text = load_text() + "".join(document.text for document in load_documents())
assert CharTokenizer(text).decode(CharTokenizer(text).encode(text)) == text
print(len(load_documents(kind="chinese")))
"""


def test_every_module_is_imported_from_another_folder_without_a_home_and_in_the_c_locale(tmp_path):
    hidden = {"HOME", "USERPROFILE", "COURSE_CORPUS", "LANG", "LC_CTYPE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    environment |= {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "MPLCONFIGDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0


@pytest.mark.parametrize("method", sorted({*get_all_start_methods()} - {"fork"}))
def test_a_process_started_in_any_way_has_the_package(method):
    with ProcessPoolExecutor(1, mp_context=get_context(method)) as processes:
        assert processes.submit(count_pairs, [0, 1, 1], 2).result().tolist() == [[0, 1], [0, 1]]
