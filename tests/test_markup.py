"""From a web page to what its reader sees: tags, comments, entities, and what only looks like them."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.foundation import load_documents
from course_lib.tokenizer_pipeline.markup import strip_html

DOCUMENTS = load_documents()


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("", ""),
        ("plain  text\n\n\n", "plain  text\n\n\n"),
        ("<p>one</p><p>two</p>", "one\n\ntwo"),
        ("<p>one<br>two<br/>three</p>", "one\ntwo\nthree"),
        ("a <b>bold</b> word", "a bold word"),
        ("<P CLASS='x'>upper case</P>", "upper case"),
        ('<a title="1 > 0" href=x>link</a>', "link"),
        ("<tr><td>1</td><td>2</td></tr>", "1 2"),
        ("<p>a<!-- <p>hidden</p> -->b</p>", "ab"),
        ("<!DOCTYPE html>\n<p>a</p>", "a"),
        ('<?xml version="1.0"?><p>a</p>', "a"),
        ("<script>if (a < b) { x() }</script><p>a</p>", "a"),
        ("<style>p { color: red }</style>a", "a"),
        ("<p>Tom &amp; Jerry&#8217;s &eacute;</p>", "Tom & Jerry’s é"),
        ("<p>&amp;lt;</p>", "&lt;"),
        ("&amp;nbsp; without tags &#x41;", "&nbsp; without tags A"),
        ("no such &entity; here & there", "no such &entity; here & there"),
        ("  &lt;\n    indented", "  <\n    indented"),
        ("<p>1 &lt; 2</p>", "1 < 2"),
        ("<p>if a < b and c > d</p>", "if a < b and c > d"),
        ("<p>write &lt;b&gt; for bold</p>", "write <b> for bold"),
        ("<p>a List<int> x<y</p>", "a List<int> x<y"),
        ("<pre>if a:\n    b\n</pre>", "if a:\n    b"),
        ("<p>one\n    two</p>", "one\ntwo"),
        ("a <bogus> tag", "a <bogus> tag"),
        ("an open <b", "an open <b"),
        ("<p>an open <!-- comment", "an open <!-- comment"),
        ("</p></div>only ends", "only ends"),
        ("</pre><pre>if a:\n    b</pre>\n  c", "if a:\n    b\n\nc"),
        ("<pre><pre>\n a</pre>\n b</pre>\n c", "a\n\n b\n\nc"),
        ("a<!-- -->b<!---->c<!-->d", "abc<!-->d"),
        ("</pre></pre><pre>\n a</pre>", "a"),
        ("<p>\ud800</p>", "\ud800"),
        ("&#0;&#x110000;", "\ufffd\ufffd"),
        ("#include <map>\nif (a<b && c>d) AT&amp;T", "#include \nif (ad) AT&T"),
    ],
)
def test_a_page_becomes_what_its_reader_sees(page, text):
    assert strip_html(page) == text


@pytest.mark.parametrize(
    "text", ["a < b", "a<b, c>d", "#include <stdio.h>", "vector<int> v;", "x <- 3", "<3", "<>", "AT&T"]
)
def test_what_is_no_element_of_html_is_text(text):
    assert strip_html(text) == text


def test_what_is_no_text_is_refused():
    with pytest.raises(TypeError, match=r"text must .*got bytes"):
        strip_html(b"<p>a</p>")


def test_of_the_bundled_documents_only_web_pages_change():
    assert {document.kind for document in DOCUMENTS if strip_html(document.text) != document.text} == {"web"}
    for document in DOCUMENTS:
        if document.kind == "web":
            assert not re.search(r"</?(?:p|div|a|b|i|ul|li|h1|h2)\b[^<>]*>", strip_html(document.text))


@given(st.text(st.sampled_from(list("<>/!-&;pb\"' =a#1\n")), max_size=30))
@settings(deadline=None, max_examples=300)
def test_no_text_makes_the_cleaner_raise(text):
    assert isinstance(strip_html(text), str)


@pytest.mark.parametrize("unit", ["<!--", "-->", '<p "', "<p '\"", "<script>", "<style><", "&", "</pre>", "<p ", "</p"])
def test_a_hostile_page_takes_no_quadratic_time(unit):
    assert isinstance(strip_html("<p>" + unit * 50_000), str)
