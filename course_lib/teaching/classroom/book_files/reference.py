"""The reference, from the docstrings alone: nothing is imported for it.

What a module offers is read from its source. So names stand in the order in which the
module tells its story, and signatures say what their authors wrote.
"""

from __future__ import annotations

import ast
import copy
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import course_lib

PACKAGE = course_lib.__name__
FOLDER = Path(course_lib.__file__).resolve().parent
ROOMS = {
    "foundation": "Foundation: what the lessons stand on",
    "teaching": "Teaching: what shows and judges them",
}
ABOUT = """
Every public function and class, from the docstrings: first the lessons, in their order,
then the rooms that they share. Letters stand for the same thing everywhere: `N` tokens
in the stream, `T` the context length, `S` the stride, `B` the batch size.
"""
LONGEST_VALUE = 60

_SECTION = re.compile(r"(Args|Returns|Raises|Yields|Attributes):")
_TITLES = {"Args": "Arguments"}
_ENTRY = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)")
_CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PROPERTIES = {"property", "cached_property"}
Link = Callable[[str], str | None]


@dataclass(frozen=True)
class Offered:
    """What a module offers: its name, its definition, and the module that holds it."""

    name: str
    node: ast.stmt
    source: str
    described: str = ""


@dataclass
class Module:
    """A page of the reference.

    Attributes:
        name: what a reader imports from: a lesson's module, or a room.
        title: what the page is called.
        page: its path in the site.
        docstring: what the module says about itself.
        offered: what it offers, in the order of the story.
    """

    name: str
    title: str
    page: str
    docstring: str
    offered: list[Offered] = field(default_factory=list)


class Reference:
    """All that the course offers.

    Args:
        lessons: names of the lessons that are told of.
        rooms: names of the rooms that are told of, each as a whole.
    """

    def __init__(self, lessons: Iterable[str], rooms: Iterable[str] = tuple(ROOMS)):
        self.lessons = [_lesson(name) for name in lessons]
        self.rooms = {room: _room(room) for room in rooms}
        self.modules = [*self.lessons]
        for pages in self.rooms.values():
            self.modules += pages
        # By full name; and the full name of each short one. A room lends its names to
        # lessons, so it goes before them.
        self.offered = {
            f"{module.name}.{offered.name}": offered
            for module in [*self.rooms.get("foundation", []), *self.modules]
            for offered in module.offered
        }
        self.full_names: dict[str, str] = {}
        for full in self.offered:
            self.full_names.setdefault(full.rpartition(".")[2], full)

    def pages_of_files(self) -> dict[str, str]:
        """Map files of the repository to the pages that tell of them."""
        found: dict[str, str] = {}
        for module in self.modules:
            for offered in module.offered:
                path = f"{offered.source.replace('.', '/')}.py"
                found.setdefault(path, module.page)
        return found

    def source_of(self, room: str, name: str) -> str | None:
        """Name the module in which a class, a function or a method is defined."""
        offered = self.offered.get(f"{room}.{name.split('.')[0]}")
        return offered.source if offered else None

    def write(self, folder: Path, lessons: dict[str, tuple[str, str]]) -> None:
        """Write the pages.

        Args:
            folder: the source of the site.
            lessons: the page of each lesson, and its title, by name.
        """
        rooms = [
            Module("", ROOMS[room], f"reference/{room}/index.md", "")
            for room in self.rooms
        ]
        chapters = ["## Lessons", *_contents(self.lessons)]
        chapters += ["## Rooms", *_contents(rooms)]
        _write(folder / "reference/index.md", ["# Reference", ABOUT, *chapters])
        for room, pages in self.rooms.items():
            chapters = [
                f"# {ROOMS[room]}",
                *_as_markdown(_docstring(f"{PACKAGE}.{room}"), self._linker("", "")),
                f"```{{py:module}} {PACKAGE}.{room}\n```\n",
                f"```python\nfrom {PACKAGE}.{room} import ...\n```\n",
                *_contents(pages),
            ]
            _write(folder / f"reference/{room}/index.md", chapters)
        for module in self.modules:
            _write(folder / module.page, self._page(module, lessons))

    def _page(
        self, module: Module, lessons: dict[str, tuple[str, str]]
    ) -> Iterator[str]:
        is_lesson = module in self.lessons
        yield f"# {module.title}\n"
        directive = "py:module" if is_lesson else "py:currentmodule"
        yield f"```{{{directive}}} {module.name}\n```\n"
        yield from _as_markdown(module.docstring, self._linker(module.name, ""))
        if is_lesson and module.title in lessons:
            notebook, title = lessons[module.title]
            yield f"It belongs to the lesson [{title}](../{notebook}).\n"
        for offered in module.offered:
            yield from self._entry(offered, module.name)

    def _entry(self, offered: Offered, module: str, owner: str = "") -> Iterator[str]:
        """Signature and docstring; of a class also what it offers itself."""
        node, fence = offered.node, ":::" if owner else "::::::"
        full = f"{owner}.{offered.name}" if owner else offered.name
        options, docstring = [], offered.described
        if isinstance(node, ast.ClassDef):
            kind, signature = "class", self._class_signature(node)
        elif isinstance(node, _FUNCTIONS):
            kind, signature = self._callable(node, bool(owner), options)
        else:
            kind, signature = "data", ""
            value = ast.unparse(node.value) if node.value else ""
            if 0 < len(value) <= LONGEST_VALUE:
                options.append(f":value: {value}")
        if kind != "data":
            docstring = ast.get_docstring(node) or ""
        yield f"{fence}{{py:{kind}}} {offered.name}{signature}"
        yield from options
        yield ""
        yield from _as_markdown(docstring, self._linker(module, full))
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, _FUNCTIONS) and _is_offered(method):
                    inner = Offered(method.name, method, offered.source)
                    yield from self._entry(inner, module, full)
        yield f"{fence}\n"

    def _callable(
        self, node: ast.FunctionDef, is_method: bool, options: list[str]
    ) -> tuple[str, str]:
        if not is_method:
            return "function", self._signature(node)
        marks = {ast.unparse(mark).split(".")[-1] for mark in node.decorator_list}
        if marks & _PROPERTIES:
            if node.returns:
                options.append(f":type: {self._annotation(node.returns)}")
            return "property", ""
        options += [f":{m}:" for m in ("classmethod", "staticmethod") if m in marks]
        return "method", self._signature(node, bound="staticmethod" not in marks)

    def _class_signature(self, node: ast.ClassDef) -> str:
        for part in node.body:
            if isinstance(part, _FUNCTIONS) and part.name == "__init__":
                return self._signature(part, bound=True, returns=False)
        if not any("dataclass" in ast.unparse(mark) for mark in node.decorator_list):
            return ""
        fields = []
        for part in node.body:
            if isinstance(part, ast.AnnAssign) and part.target.id[0] != "_":
                value = ast.unparse(part.value) if part.value else ""
                if "ClassVar" in ast.unparse(part.annotation) or "init=False" in value:
                    continue
                default = re.sub(r"^field\(default_factory=(\w+)\)$", r"\1()", value)
                written = f"{part.target.id}: {self._annotation(part.annotation)}"
                fields.append(f"{written} = {default}" if default else written)
        return f"({', '.join(fields)})"

    def _signature(
        self, node: ast.FunctionDef, *, bound: bool = False, returns: bool = True
    ) -> str:
        arguments = copy.deepcopy(node.args)
        if bound:
            (arguments.posonlyargs or arguments.args).pop(0)
        for part in ast.walk(arguments):
            if isinstance(part, ast.arg) and part.annotation:
                part.annotation = self._qualify(part.annotation)
        text = f"({ast.unparse(arguments)})"
        if returns and node.returns:
            text += f" -> {self._annotation(node.returns)}"
        return text

    def _annotation(self, node: ast.expr) -> str:
        return ast.unparse(self._qualify(node))

    def _qualify(self, annotation: ast.expr) -> ast.expr:
        """Spell the course's own types out, or the links to them would be lost."""
        full_names = self.full_names

        class Speller(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                full = full_names.get(node.id)
                return ast.parse(full, mode="eval").body if full else node

        return Speller().visit(copy.deepcopy(annotation))

    def _linker(self, module: str, here: str) -> Link:
        """Make what finds the entry that a piece of code in a docstring names."""

        def link(code: str) -> str | None:
            name, *inner = code.removesuffix("()").split(".")
            full = f"{module}.{name}"
            if full not in self.offered:
                full = self.full_names.get(name, "")
            if not full or full == f"{module}.{here.split('.')[0]}":
                return None
            if inner and not self._holds(self.offered[full].node, inner):
                return None
            return ".".join([full, *inner])

        return link

    @staticmethod
    def _holds(node: ast.stmt, names: list[str]) -> bool:
        return len(names) == 1 and any(
            isinstance(part, _FUNCTIONS) and part.name == names[0] and _is_offered(part)
            for part in getattr(node, "body", ())
        )


def code_of(module: str) -> tuple[str, dict[str, tuple[str, int, int]]]:
    """Return the source of a module, and the lines of each definition in it."""
    lines: dict[str, tuple[str, int, int]] = {}

    def note(nodes: list[ast.stmt], owner: str) -> None:
        for node in nodes:
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                kind = "class" if isinstance(node, ast.ClassDef) else "def"
                first = min(part.lineno for part in [node, *node.decorator_list])
                lines[owner + node.name] = (kind, first, node.end_lineno)
                if kind == "class":
                    note(node.body, f"{owner}{node.name}.")

    note(_tree(module).body, "")
    return _code(module), lines


def _lesson(name: str) -> Module:
    module = f"{PACKAGE}.{name}"
    found = Module(module, name, f"reference/{name}.md", _docstring(module))
    found.offered = [
        Offered(node.name, node, module)
        for node in _tree(module).body
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_"
    ]
    return found


def _room(room: str) -> list[Module]:
    """One page for each module of a room, with what the room offers from it."""
    name, pages = f"{PACKAGE}.{room}", {}
    for offered in _offered_by(name):
        part = offered.source.removeprefix(f"{name}.").split(".")[0]
        if part not in pages:
            page = f"reference/{room}/{part}.md"
            pages[part] = Module(name, part, page, _docstring(f"{name}.{part}"))
        pages[part].offered.append(offered)
    for page in pages.values():
        # In the order of the files' own story, not in that of the alphabet.
        page.offered.sort(key=lambda offered: (offered.source, offered.node.lineno))
    told = course_lib.__doc__
    return sorted(
        pages.values(),
        key=lambda page: told.find(page.title, told.find(f"{room}/")) % len(told),
    )


def _offered_by(package: str) -> Iterator[Offered]:
    """Follow what the front door of a package imports to where it is defined."""
    for node in _tree(package).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(PACKAGE):
            for alias in node.names:
                yield _find(node.module, alias.name)


@cache
def _find(module: str, name: str) -> Offered:
    body = _tree(module).body
    for number, node in enumerate(body):
        match node:
            case ast.ClassDef() | ast.FunctionDef() if node.name == name:
                return Offered(name, node, module)
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                return Offered(name, node, module, _string_below(body, number))
            case ast.AnnAssign(target=ast.Name(id=target)) if target == name:
                return Offered(name, node, module, _string_below(body, number))
            case ast.ImportFrom(module=source) if source and source.startswith(PACKAGE):
                if name in [alias.asname or alias.name for alias in node.names]:
                    return _find(source, name)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple()):
                for target, value in zip(targets, node.value.elts, strict=False):
                    if isinstance(target, ast.Name) and target.id == name:
                        one = ast.copy_location(ast.Assign([target], value), node)
                        return Offered(name, one, module)
    raise ValueError(f"{module} offers {name}, but does not define it")


def _string_below(body: list[ast.stmt], number: int) -> str:
    """What the string below a constant says about it."""
    match body[number + 1 : number + 2]:
        case [ast.Expr(value=ast.Constant(value=str(text)))]:
            return inspect.cleandoc(text)
    return ""


def _is_offered(method: ast.FunctionDef) -> bool:
    """Public, or special and described; `__init__` is told of by the class."""
    if any("setter" in ast.unparse(mark) for mark in method.decorator_list):
        return False
    if method.name.startswith("__"):
        return method.name != "__init__" and ast.get_docstring(method) is not None
    return method.name[0] != "_"


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_code(module))


@cache
def _code(module: str) -> str:
    path = FOLDER.joinpath(*module.split(".")[1:])
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return path.read_text(encoding="utf-8")


def _docstring(module: str) -> str:
    return ast.get_docstring(_tree(module)) or ""


def _as_markdown(docstring: str, link: Link) -> Iterator[str]:
    """Turn a docstring in Google's style into Markdown, which its prose is already."""
    section = ""
    for block in re.split(r"\n(?=\S)", docstring):
        head, _, rest = block.partition("\n")
        if named := _SECTION.fullmatch(head):
            section = _TITLES.get(named[1], named[1])
            yield f"\n**{section}**\n"
            yield from _entries(rest, section, link)
        else:
            yield _with_links(block, link)
    yield ""


def _entries(text: str, section: str, link: Link) -> Iterator[str]:
    lines = inspect.cleandoc(text).splitlines() if text.strip() else []
    if section in ("Returns", "Yields"):
        yield _with_links("\n".join(map(str.strip, lines)), link)
        return
    for line in lines:
        entry = _ENTRY.fullmatch(line)
        if entry and not line.startswith(" "):
            yield f"- `{entry[1]}`: {_with_links(entry[2], link)}"
        else:
            yield f"  {_with_links(line.strip(), link)}"


def _with_links(text: str, link: Link) -> str:
    def replace(match: re.Match) -> str:
        full = link(match[1])
        return f"{{py:obj}}`{match[1]} <{full}>`" if full else match[0]

    return _CODE.sub(replace, text)


def _contents(modules: Iterable[Module]) -> Iterator[str]:
    """List pages with the first sentence that each module says about itself."""
    modules = list(modules)
    for module in modules:
        sentence = re.match(r".*?(?:[.](?=\s|$)|$)", module.docstring, re.DOTALL)[0]
        told = re.sub(r"^Lesson \d+: ", "", " ".join(sentence.split())).rstrip(":")
        link = f"[{module.title}](/{module.page})"
        yield f"- {link}: {told}" if told else f"- {link}"
    listed = "\n".join(f"/{module.page.removesuffix('.md')}" for module in modules)
    yield f"\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n\n{listed}\n```\n"


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
