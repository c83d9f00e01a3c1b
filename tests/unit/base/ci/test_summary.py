from smlocal.base.ci.reports import folded, heading, limited, table

GITHUB_LIMIT = 1 << 20
HOSTILE = "<script>|`x`\n\n@me \x1b"


def test_nothing_in_it_is_markup() -> None:
    text = heading(HOSTILE) + table(("a", "b"), [(HOSTILE, "c")]) + folded(HOSTILE, HOSTILE)
    assert "<script>" not in text
    assert "\x1b" not in text
    assert "<td>&lt;script&gt;|`x`<br><br>@me \\x1b</td><td>c</td>" in text
    assert "<pre>&lt;script&gt;|`x`\n\n@me \\x1b\n</pre>" in text


def test_a_long_one_is_cut_at_a_row_and_says_so() -> None:
    rows = [(str(number), "ü" * 1000) for number in range(1000)]
    text = table(("a", "b"), rows)
    assert len(text.encode()) < GITHUB_LIMIT
    assert text.count("<tr>") == text.count("</tr>") < 1000
    assert text.endswith("</table>\n\n<p>There is more than fits here.</p>\n\n")
    assert "no room" not in table(("a", "b"), rows[:5])


def test_of_long_text_the_end_is_kept() -> None:
    text = folded("log", "\n".join(f"{number:06d}" for number in range(200_000)))
    assert "199999\n</pre>" in text
    assert "000000" not in text
    assert len(text.encode()) < GITHUB_LIMIT


def test_parts_that_fit() -> None:
    assert limited(["a", "b"]) == "ab"
    assert limited(["a", "b" * GITHUB_LIMIT, "c"]).startswith("a<p>There is more")
