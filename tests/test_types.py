"""What a type checker, and so an editor, sees of the course: whole signatures, through `@checked`."""

from mypy import api

# What others do in their own files: the course is installed, and says by py.typed that its types are meant.
SETTINGS = """
[mypy]
ignore_missing_imports = true
follow_imports = silent
[mypy-torch.*,transformers.*,datasets.*,matplotlib.*]
follow_imports = skip
"""
USE = """
from course_lib.sliding_windows import count_windows, make_dataloader

reveal_type(count_windows)
reveal_type(make_dataloader)
count_windows(10, 3, stride=2)
count_windows("a", 3)
count_windows(10, 3, nonsense=4)
"""


def test_a_checked_function_keeps_its_signature_and_wrong_calls_are_refused(tmp_path, monkeypatch):
    (tmp_path / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    (tmp_path / "use.py").write_text(USE, encoding="utf-8")
    options = ["--config-file", str(tmp_path / "mypy.ini"), "--cache-dir", str(tmp_path / "cache")]
    said, broken, _ = api.run([*options, "--no-error-summary", "--hide-error-codes", str(tmp_path / "use.py")])
    assert broken == ""
    revealed, loader, *errors = [line.partition("use.py:")[2] for line in said.splitlines() if "defined in" not in line]
    assert '"def (num_tokens: int, context_length: int, stride: int =) -> int"' in revealed
    assert "batch_size: int, *, base_seed: int" in loader
    assert "WindowLoader" in loader
    assert [line.partition(":")[0] for line in errors] == ["7", "8"]
    assert "Argument 1" in errors[0]
    assert "nonsense" in errors[1]
