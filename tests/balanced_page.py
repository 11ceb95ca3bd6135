"""A page whose tags are closed in their order, for the tests of what writes HTML."""

from html.parser import HTMLParser


class Balanced(HTMLParser):
    """Fails on tags that are not closed in their order, and collects what they hold."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes).get("style", "")))
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)
