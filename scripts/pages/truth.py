def truth_markdown() -> str:
    return ""
