// A page that is opened as a file may not read its neighbors: search results come without excerpts then.
if (location.protocol === "file:") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}
