"""Hostile pages."""

CALLS = {
    "strip_html(None)": TypeError("text must be a str, got NoneType"),
    "strip_html(b'<p>')": TypeError("text must be a str, got bytes"),
    "strip_html(nan)": TypeError("text must be a str, got float"),
    "strip_html('')": "",
    "strip_html('<p>\\ud800</p>')": "\ud800",
    "strip_html('</pre></pre><pre>\\n a</pre>')": "a",
    "strip_html('</pre>' * 3 + '<pre>a\\n b</pre>')": "a\n b",
    "len(strip_html('<p>' + '<!--' * 100_000))": 400_000,
    "len(strip_html('<p>' + '<!-- -->' * 100_000))": 0,
    "strip_html('<p ' * 100_000 + '>')[:6]": "<p <p ",
    "strip_html('<script>' * 50_000)": "",
    "strip_html('<!-->')": "<!-->",
    "strip_html('&' * 9)": "&" * 9,
    "strip_html('&#0;&#x110000;')": "\ufffd\ufffd",
    "strip_html('<p>&lt;b&gt;</p>')": "<b>",
    "strip_html('<map><b>')": "",
}
