// Sphinx fetches each page that it has found, to quote it. A page that is opened as a file
// may not do that, so the words of all pages are in excerpts.js.
window.fetch = async (page) => ({
  text: async () => EXCERPTS[new URL(page, location).href.slice(new URL(".", location).href.length)] ?? "",
});
