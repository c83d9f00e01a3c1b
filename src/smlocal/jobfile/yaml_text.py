"""Job files in YAML: read by the core schema of YAML 1.2, and written as text that reads back as the same data."""

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import yaml

from smlocal.errors import JobFileSyntaxError
from smlocal.jobfile.document import MOST_LEVELS, shown_key, too_large_for_a_request
from smlocal.terms.json_size import MOST_PARTS
from smlocal.terms.masking import masked_text
from smlocal.terms.validation.violation import Path

# That is what `aws --cli-input-yaml` reads: `yes`, `no`, `on` and `off` are strings, and so are dates and `1:30`;
# `010` is ten and `1e3` is a number. `<<` merges. A repeated key is an error.

_TAG = "tag:yaml.org,2002:"
_NUMBER = "-+0123456789"
_SCALARS = (
    ("null", re.compile(r"(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""]),
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF")),
    ("int", re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"), list(_NUMBER)),
    (
        "float",
        re.compile(
            r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
        ),
        list(_NUMBER + "."),
    ),
    ("merge", re.compile(r"<<$"), ["<"]),
)
_LONGEST_NUMBER = 100
_DEEPEST = 500
_MOST_MERGED = 20_000
_MOST_NODES = 4 * MOST_PARTS
"""Keys and values, including those that are merged away. Each takes a kilobyte of memory."""
_MARKS_OF_LEVELS = "[{-?:"
_MARKS_OF_NODES = _MARKS_OF_LEVELS + ",\n"
_MANY_MARKS = _MOST_NODES // 8
"""The number of nodes that is checked first.

A text with fewer has too few nodes: each mark begins two or three of them at most.
"""
_TOO_DEEP = "nesting depth"
"""In libyaml's message about a thousand brackets."""
_LONGEST_PROBLEM = 200
"""Characters: libyaml's may have a name of any length in it."""

if TYPE_CHECKING:
    _Base = yaml.SafeLoader
else:
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml is seven times as fast, and not everywhere


class _Loader(_Base):
    def bool_(self, node: yaml.ScalarNode) -> bool:
        text = self.construct_scalar(node).lower()
        if text not in ("true", "false"):
            self.undefined(node, "is not a boolean")
        return bool(text == "true")

    def int_(self, node: yaml.ScalarNode) -> int:
        text = self.construct_scalar(node)
        if len(text) > _LONGEST_NUMBER:
            self.undefined(node, "is too long for a number")
        base = {"0o": 8, "0x": 16}.get(text[:2], 10)
        try:
            return int(text, base)
        except ValueError:
            self.undefined(node, "is not a number")

    def float_(self, node: yaml.ScalarNode) -> float:
        text = self.construct_scalar(node)
        try:
            return float(re.sub(r"(?i)\.(inf|nan)$", r"\1", text))
        except ValueError:
            self.undefined(node, "is not a number")

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        """Merge as PyYAML does, but never more than a request can hold: merges of merges multiply."""
        own: list[tuple[yaml.Node, yaml.Node]] = []
        merged: list[tuple[yaml.Node, yaml.Node]] = []
        pairs, node.value = node.value, own  # assigned first, because a map may merge itself
        for key, value in pairs:
            if key.tag != _TAG + "merge":
                own.append((key, value))
                continue
            for part in self._merge_sources(value):
                self.flatten_mapping(part)
                self.merged += len(part.value)
                if self.merged > _MOST_MERGED:
                    self.undefined(key, f"merges more than {_MOST_MERGED:,} parts")
                merged += part.value
        node.value = merged + own

    merged = 0

    def _merge_sources(self, value: yaml.Node) -> list[yaml.MappingNode]:
        """The maps to merge; later ones override earlier ones."""
        if isinstance(value, yaml.MappingNode):
            return [value]
        parts = value.value if isinstance(value, yaml.SequenceNode) else [value]
        for part in parts:
            if not isinstance(part, yaml.MappingNode):
                raise yaml.constructor.ConstructorError(None, None, "only maps can be merged", part.start_mark)
        return list(reversed(parts))

    def undefined(self, node: yaml.Node, problem: str | None = None) -> NoReturn:
        said = f"the tag {node.tag} is not supported" if problem is None else f"{str(node.value)[:40]} {problem}"
        raise yaml.constructor.ConstructorError(None, None, said, node.start_mark)


_Loader.yaml_implicit_resolvers = {
    letter: [(_TAG + name, pattern) for name, pattern, letters in _SCALARS if letter in letters]
    for letter in [*_NUMBER, *"tTfF~nN.<", ""]
}
_Loader.yaml_constructors = {
    _TAG + "null": yaml.SafeLoader.construct_yaml_null,
    _TAG + "bool": _Loader.bool_,
    _TAG + "int": _Loader.int_,
    _TAG + "float": _Loader.float_,
    _TAG + "str": yaml.SafeLoader.construct_yaml_str,
    _TAG + "seq": yaml.SafeLoader.construct_yaml_seq,
    _TAG + "map": yaml.SafeLoader.construct_yaml_map,
    None: _Loader.undefined,
}


def parse(text: str, name: str, *, levels: int = MOST_LEVELS) -> tuple[Any, "YamlPlaces"]:
    """The data, and its lines. `levels` is the limit that a refusal names."""
    loader = None

    def too_deep(mark: yaml.Mark | None) -> JobFileSyntaxError:
        where = name if mark is None else f"{name}:{mark.line + 1}"
        return too_large_for_a_request(name, deep=True, details=[f"{where}   here"], levels=levels)

    try:
        _refuse_size(text, name, levels=levels)
        loader = _Loader(text)
        node = loader.get_single_node()
        places = YamlPlaces(node)
        if node is None:
            return None, places
        _refuse_repeated_keys(node, name)
        data = loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        # libyaml has a limit of its own, and the stack that is left is another: whichever comes first, it is one error.
        if _TOO_DEEP in (error.problem or ""):
            raise too_deep(error.problem_mark) from error
        raise _refusal(error, text, name) from error
    except RecursionError as error:
        raise too_deep(None) from error
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        problem = str(error).splitlines()[0]
        raise JobFileSyntaxError(f"{name} is not YAML", details=[f"{name}   {problem}"]) from error
    finally:
        if loader is not None:
            loader.dispose()
    return data, places


def _refuse_size(text: str, name: str, *, levels: int) -> None:
    """The composer of libyaml's binding recurses in C: enough brackets would crash the process. Nodes take memory."""
    if sum(map(text.count, _MARKS_OF_LEVELS)) <= _DEEPEST and sum(map(text.count, _MARKS_OF_NODES)) <= _MANY_MARKS:
        return
    depth = nodes = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.NodeEvent):
            nodes += 1
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _DEEPEST or nodes > _MOST_NODES:
            where = f"{name}:{event.start_mark.line + 1}" if event.start_mark else name
            deep = depth > _DEEPEST
            raise too_large_for_a_request(name, deep=deep, details=[f"{where}   here"], levels=levels)


def _refusal(error: yaml.MarkedYAMLError, text: str, name: str) -> JobFileSyntaxError:
    mark = error.problem_mark or error.context_mark
    problem = (error.problem or error.context or "cannot be read")[:_LONGEST_PROBLEM]
    if mark is None:
        return JobFileSyntaxError(f"{name} is not YAML", details=[f"{name}   {problem}"])
    lines = text.splitlines()
    if mark.line < len(lines) and lines[mark.line][mark.column : mark.column + 1] == "\t":
        problem = "a tab; YAML is indented with spaces"
    details = [f"{name}:{mark.line + 1}:{mark.column + 1}   {problem}"]
    if mark.line < len(lines):
        details.append(f"  {masked_text(lines[mark.line][:200])}")
    return JobFileSyntaxError(f"{name} is not YAML", details=details)


def _refuse_repeated_keys(root: yaml.Node, name: str) -> None:
    """Check before the data is built, because merging adds keys that are not repeated in the text."""
    waiting, seen = [root], {id(root)}
    while waiting:
        node = waiting.pop()
        parts: list[yaml.Node] = []
        if isinstance(node, yaml.SequenceNode):
            parts = list(node.value)
        elif isinstance(node, yaml.MappingNode):
            first: dict[tuple[str, str], yaml.Node] = {}
            for key, value in node.value:
                parts.append(value)
                if not isinstance(key, yaml.ScalarNode):
                    continue
                earlier = first.setdefault((key.tag, key.value), key)
                if earlier is not key:
                    line, before = key.start_mark.line + 1, earlier.start_mark.line + 1
                    shown = shown_key(key.value)
                    raise JobFileSyntaxError(
                        f"{name} has the key {shown} twice in one map",
                        details=[f"{name}:{line}   {shown}", f"{name}:{before}   first here"],
                    )
        for part in parts:
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)


class YamlPlaces:
    """Finds lines in the parser's tree."""

    def __init__(self, root: yaml.Node | None) -> None:
        """The tree is only walked if there is a mistake."""
        self._root = root

    def lines(self) -> dict["Path", int]:
        """Path to line."""
        found: dict[Path, int] = {}
        for path, line, _ in self._parts():
            found.setdefault(path, line)
        return found

    def texts(self) -> dict["Path", str]:
        """Path to the text of a number or another plain value."""
        found: dict[Path, str] = {}
        for path, _, node in self._parts():
            if isinstance(node, yaml.ScalarNode):
                found.setdefault(path, node.value)
        return found

    def _parts(self) -> Iterator[tuple["Path", int, yaml.Node]]:
        """Each part with its line; for merged maps, the effective part comes first."""
        if self._root is None:
            return
        inside: list[Iterator[tuple[Path, yaml.Node, int]]] = [iter([((), self._root, self._root.start_mark.line + 1)])]
        left = MOST_PARTS  # aliases may make it endless
        while inside and left:
            part = next(inside[-1], None)
            if part is None:
                inside.pop()
                continue
            left -= 1
            path, node, line = part
            yield path, line, node
            if len(path) <= MOST_LEVELS:
                inside.append(_inner_parts(path, node))


def _inner_parts(path: "Path", node: yaml.Node) -> "Iterator[tuple[Path, yaml.Node, int]]":
    """The inner nodes of a node, the last one first."""
    if isinstance(node, yaml.SequenceNode):
        for index in range(len(node.value) - 1, -1, -1):
            part = node.value[index]
            yield (*path, index), part, part.start_mark.line + 1
    elif isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if isinstance(key, yaml.ScalarNode):
                yield (*path, key.value), value, key.start_mark.line + 1


_PLAIN = re.compile(r"[A-Za-z_./][\w./@-]*(?::[\w./@-]+)*", re.ASCII)
_NOT_STRINGS = {"true", "false", "null", "yes", "no", "on", "off", "y", "n", ".inf", ".nan"}
_LIKE_A_NUMBER = re.compile(r"[.0-9_eE]+")


def yaml_text(data: dict[str, Any]) -> str:
    """A map in block style, keys in their order."""
    return "".join(f"{line}\n" for line in _map(data))


def one_line(text: str) -> str:
    """Text for a comment: without characters that a YAML file cannot have."""
    return "".join(character if character.isprintable() else "?" for character in " ".join(text.split()))


def _map(data: dict[str, Any]) -> list[str]:
    lines = []
    for key, value in data.items():
        if isinstance(value, dict) and value:
            lines += [f"{_text(key)}:", *(f"  {line}" for line in _map(value))]
        elif isinstance(value, list) and value:
            lines += [f"{_text(key)}:", *(f"  {line}" for item in value for line in _item(item))]
        else:
            lines.append(f"{_text(key)}: {_scalar(value)}")
    return lines


def _item(value: Any) -> list[str]:
    if isinstance(value, dict) and value:
        first, *rest = _map(value)
        return [f"- {first}", *(f"  {line}" for line in rest)]
    return [f"- {_scalar(value)}"]


def _scalar(value: Any) -> str:
    return _text(value) if isinstance(value, str) else _json(value)


def _text(text: str) -> str:
    plain = _PLAIN.fullmatch(text) and text.lower() not in _NOT_STRINGS and not _LIKE_A_NUMBER.fullmatch(text)
    return text if plain else _json(text)


def _json(value: Any) -> str:
    """JSON is YAML, apart from surrogate pairs as escapes and line ends that only YAML knows."""
    return "".join(map(_escaped, json.dumps(value, ensure_ascii=False)))


def _escaped(character: str) -> str:
    return character if character.isprintable() else f"\\U{ord(character):08X}"
