"""Letters that draw nothing, bytes that are no text, and markup: as they are shown."""

import pytest

from course_lib.foundation.visible import plain, signs, spelled


def test_what_draws_nothing_is_a_sign_or_a_code_point():
    assert signs("a b\n\t") == "a␣b↵⇥"
    assert signs("\r\u200b\xa0\ud800") == "U+000DU+200BU+00A0U+D800"
    assert signs("") == ""


def test_bytes_are_text_where_they_can_be():
    assert [spelled(token) for token in (" a", b" a", b"\xe6\xbc", "漢".encode(), b"")] == [
        "␣a",
        "␣a",
        "<E6 BC>",
        "漢",
        "",
    ]
    with pytest.raises(TypeError, match=r"tokens must .*got 5"):
        spelled(5)


def test_nothing_is_markup_or_a_formula():
    assert plain("<b>&\n") == "&lt;b&gt;&amp;<br>"
    assert plain("$x$") == "<span>$</span>x<span>$</span>"
