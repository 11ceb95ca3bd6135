// What a reader did: {outcome, message} of the first reply, by the id of what was asked.
// It stays in this browser, in localStorage, and is sent nowhere. In the head of a page:
// where a browser keeps nothing, as some do in private, Furo and Sphinx get a storage too
// that lives as long as the page.
const record = (() => {
  const KEY = "feeding-language-models";
  let isKept = true;
  try {
    localStorage.setItem(`${KEY}-test`, "");
    localStorage.removeItem(`${KEY}-test`);
  } catch {
    isKept = false;
    const memory = new Map();
    const value = {
      getItem: (key) => memory.get(key) ?? null,
      setItem: (key, text) => memory.set(key, String(text)),
      removeItem: (key) => memory.delete(key),
    };
    Object.defineProperty(window, "localStorage", { value });
  }

  const all = () => JSON.parse(localStorage.getItem(KEY)) ?? {};
  const get = (id) => all()[id];
  return {
    isKept,
    get,
    put(id, outcome, message) {
      if (get(id)) return; // the first counts
      localStorage.setItem(KEY, JSON.stringify({ ...all(), [id]: { outcome, message } }));
      document.dispatchEvent(new Event("recorded"));
    },
    clear: () => localStorage.removeItem(KEY),
    // How many of these were right at first, of how many.
    count: (ids) => [ids.filter((id) => get(id)?.outcome === "passed").length, ids.length],
  };
})();
