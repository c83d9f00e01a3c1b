"""Decides by its name, and if necessary by its value, whether something is a secret."""

import re


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
