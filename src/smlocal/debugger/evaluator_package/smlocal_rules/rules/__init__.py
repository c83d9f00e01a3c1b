"""The built-in rules, one per file: a judgement of arrays, and the class with the documented parameters."""
