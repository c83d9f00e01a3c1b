"""Secrets: how they are known by name or value, and how they are hidden in printed text."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from smlocal.terms.json_size import compact, too_large

# Not compiled here: they are used rarely.
_PAIR = (
    r"""(?<![\w.-])(?:-{0,2}(?P<name>[A-Za-z_][\w.-]*)["']?[ \t]*[=:]|--(?P<option>[A-Za-z][\w.-]*)(?=[ \t]+[^\s-]))"""
    r"""[ \t]*(?P<value>"[^"]*|'[^']*|[^\s,;]+)"""
)
_LONGEST = 16 << 10
"""Characters of a name or a value. Longer lines are not searched: that takes long, and they are not read."""
_DEEPEST = 100
"""Levels of a JSON value. How many Python can parse depends on its version."""
_REFERENCE = r"""["']?\$[A-Za-z_{]"""
"""A variable of the shell."""


def masked(name: str, value: str) -> str:
    """The value of a variable, hyperparameter or tag without secrets."""
    if len(name) > _LONGEST or len(value) > _LONGEST or looks_secret(name, value):
        return HIDDEN
    if value[:1] in ("{", "["):
        if too_large(value, parts=_LONGEST, levels=_DEEPEST) is not None:
            return HIDDEN
        try:
            document = json.loads(value)
            shown = masked_tree(document)
        except ValueError:
            return without_passwords(value)
        return value if shown == document else json.dumps(shown, ensure_ascii=False)
    return without_passwords(value)


def masked_request(request: Mapping[str, Any]) -> dict[str, Any]:
    """A request without secrets. Any list of strings may be the words of a command."""
    shown: dict[str, Any] = _with_words(masked_tree(request))
    return shown


def _with_words(tree: Any) -> Any:
    if isinstance(tree, Mapping):
        return {key: _with_words(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return masked_words(tree) if all(isinstance(item, str) for item in tree) else [*map(_with_words, tree)]
    return tree


def masked_tree(tree: Any) -> Any:
    """A document without secrets."""
    return with_strings(tree, masked)


def masked_file(path: str, content: bytes) -> bytes:
    """A file of a job without secrets."""
    if not path.endswith(".json"):
        return content

    document = json.loads(content)
    shown = masked_tree(document)
    return content if shown == document else compact(shown)


def with_strings(tree: Any, change: Callable[[str, str], str], name: str = "") -> Any:
    """A copy of a document in which every string is replaced by `change(name, string)`."""
    if isinstance(tree, Mapping):
        head = "Key" if "Key" in tree else "Name"  # of a tag; of a parameter of a pipeline
        if tree.keys() == {head, "Value"} and isinstance(tree["Value"], str):
            return {head: tree[head], "Value": change(str(tree[head]), tree["Value"])}
        return {key: with_strings(value, change, str(key)) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [with_strings(item, change, name) for item in tree]
    return change(name, tree) if isinstance(tree, str) else tree


def masked_words(words: Sequence[str]) -> list[str]:
    """The words of a command without secrets."""
    shown: list[str] = []
    option = ""
    for word in words:
        hidden = len(word) > _LONGEST or (option and not word.startswith("-") and looks_secret(option, word))
        shown.append(HIDDEN if hidden else masked_text(word))
        option = word.lstrip("-") if not hidden and word.startswith("-") and "=" not in word else ""
    return shown


def masked_text(text: str) -> str:
    """Shell, YAML or JSON without secrets: from the value of a secret on, the rest of the line is hidden.

    Only a parser could tell where the value ends, and the text may not be valid.
    """
    return "\n".join(map(_masked_line, without_passwords(text).split("\n")))


def _masked_line(line: str) -> str:
    at, pairs = 0, re.compile(_PAIR)
    while (match := pairs.search(line, at)) is not None:
        value, at = match["value"], match.start("value")
        if re.match(_REFERENCE, value) is None and looks_secret(match["name"] or match["option"], value.strip("'\"")):
            return line[:at] + HIDDEN
    return line


# Decides by its name, and if necessary by its value, whether something is a secret.


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Not compiled here: they are used rarely.
_WORD = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
_ONE_WORD = r"passw|passphrase|secrets?$|credentials?$|creds?$|pwd$|(api|access|secret|private)keys?$"
_TWO_WORDS = (
    r"(^|_)((api|access|secret|private|signing|encryption|ssh|account|storage|master|service|license)_?keys?"
    r"|pass_?(word|phrase|code)s?|conn(ection)?_?str(ing)?s?)(_|$)"
)
_ALWAYS = _set("jwt bearer authorization auth oauth pw")
_ADDRESS = _set("dsn webhook")
"""Their address itself is the secret."""
_ABOUT = _set(
    "file filename path dir directory folder url uri endpoint host hostname port arn name names type types mode method "
    "provider format length len size count num dim dims dimension limit max min ttl timeout expiry expiration enabled "
    "required region version prefix suffix column columns field"
)
"""With one of these as its last word, a name says where a secret is or how it is, not what it is."""
_OF_TEXT = _set(
    "bos eos pad padding unk unknown cls sep mask masked special next first last start end stop image text audio video "
    "per max min num n type types id ids count len length limit size dim embedding embeddings embed dropout drop "
    "budget level classification classifier vocab vocabulary merge split by skip ignore label"
)
"""With `token`: a token of a language model."""
_OF_ACCESS = _set("api auth oauth access refresh bearer")
"""With `tokens`: tokens that grant access."""
_OF_DATA = _set(
    "sort primary foreign partition s object image label target input output data feature features column join group "
    "metric text id public kms query cache value index item dict state batch loss monitor hash range row record merge "
    "rng prng random attention attn sample example weight model checkpoint order unique"
)
"""With `key`: the key of a table, a map or an array. Digits are not part of words: `s` is from `s3_key`."""
_OF_WORK = _set("forward backward single one two multi num n first second low high band by per each all")
"""With `pass`."""
_OF_MATCHING = _set("file glob path name regex re match include exclude")
"""With `pat`."""
_WORKING_FOLDER = _set("pwd oldpwd")
_SAYS_NOTHING = frozenset({"", "true", "false", "yes", "no", "on", "off", "none", "null"})


def looks_secret(name: str, value: str | None = None) -> bool:
    """True if the value of a variable, hyperparameter or tag must not be shown."""
    words = [word.lower() for word in re.findall(_WORD, name)]
    if not words or (value is not None and _harmless(words, value)):
        return False
    if not _ADDRESS.isdisjoint(words):
        return True
    return words[-1] not in _ABOUT and (_named(words) or _named_by_context(words[-1], frozenset(words)))


def _harmless(words: list[str], value: str) -> bool:
    folder = len(words) == 1 and words[0] in _WORKING_FOLDER and value.startswith(("/", "~", "."))
    return folder or value.strip().strip('"').lower() in _SAYS_NOTHING


def _named(words: list[str]) -> bool:
    """True for words that always mean a secret."""
    return (
        not _ALWAYS.isdisjoint(words)
        or any(re.search(_ONE_WORD, word) for word in words)
        or re.search(_TWO_WORDS, "_".join(words)) is not None
    )


def _named_by_context(last: str, words: frozenset[str]) -> bool:
    """True for words that mean a secret unless others are with them."""
    return (
        (any(word.endswith("token") for word in words) and _OF_TEXT.isdisjoint(words))
        or ("tokens" in words and not _OF_ACCESS.isdisjoint(words))
        or (last == "key" and _OF_DATA.isdisjoint(words))
        or (last == "pass" and _OF_WORK.isdisjoint(words))
        or (last == "pat" and _OF_MATCHING.isdisjoint(words))
    )


# Hides passwords, tokens and signatures in URLs. They may be in any text that is printed.

HIDDEN = "•••"
# Not compiled here: most runs print no such URL. Each part has a limit, or time would grow with the square of the text.
_BOTH = (
    r"(?P<head>[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/?#:\"]{0,500}:)"
    r"(?:[^\s/?#\"]{1,4000}|(?!\d+(?:[/?#]|$))[^\s@\"]{1,4000})@"  # a password may contain `/`; a port is not one
)
_USER = r"(?P<head>https?://)[^\s/?#@:\"]+:?@"
"""In an HTTP URL, a user without a password is usually a token."""
_QUERY = r"(?P<head>[?&](?P<name>[^\s=&?#\"']+)=)[^\s&#\"']+"
_SIGNATURE = r"(?i)sig(nature)?$"


def without_passwords(text: str) -> str:
    """The text with each of them replaced by `•••`."""
    if "://" not in text or ("@" not in text and "?" not in text):
        return text
    text = re.sub(_USER, rf"\g<head>{HIDDEN}@", re.sub(_BOTH, rf"\g<head>{HIDDEN}@", text))
    return re.sub(_QUERY, _masked_query, text)


def _masked_query(match: re.Match[str]) -> str:
    secret = looks_secret(match["name"]) or re.search(_SIGNATURE, match["name"])
    return f"{match['head']}{HIDDEN}" if secret else match[0]
