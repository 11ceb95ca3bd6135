// Under a title that the search finds, it quotes the page, but not what waits for a guess.
(() => {
  if (typeof Search === "undefined") return; // every other page
  // A browser reads no page for a page that is opened as a file: there, titles must do.
  if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
  const quoted = Search.htmlToText;
  Search.htmlToText = (html, anchor) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll("details, .guess").forEach((folded) => folded.remove());
    return quoted(page.documentElement.outerHTML, anchor);
  };
})();
