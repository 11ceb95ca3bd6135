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
  // Headings that hold every word come first, then the page of questions. Sphinx would mix them with all pages that
  // hold the words somewhere.
  const searched = Search._performSearch;
  Search._performSearch = (query, ...terms) => {
    const { alltitles, docnames, filenames, titles } = Search._index;
    const wanted = query.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
    const headings = [];
    for (const [heading, places] of Object.entries(alltitles)) {
      const words = heading.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
      const holds = wanted.length && wanted.every((word) => words.some((one) => one.startsWith(word)));
      const score = 1000 * wanted.length / words.length;
      if (holds) for (const [file, id] of places) {
        const name = titles[file] === heading ? heading : `${titles[file]} > ${heading}`;
        headings.push([docnames[file], name, id ? `#${id}` : "", null, score, filenames[file], "title"]);
      }
    }
    headings.sort((one, other) => one[4] - other[4]); // shown from the last one on
    const known = new Set(headings.map((one) => one[0] + one[2]));
    const pages = searched(query, ...terms).filter((one) => !known.has(one[0] + one[2]));
    const answers = (one) => one[0].endsWith("QUESTIONS"); // in a line, with a link
    return [...pages.filter((one) => !answers(one)), ...pages.filter(answers), ...headings];
  };
})();
