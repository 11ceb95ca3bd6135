// What a reader did, by the id of what was asked: {outcome, message} of the first reply.
// It stays in this browser, in localStorage, and is sent nowhere. Where a browser keeps
// nothing, as some do in private, the page remembers it until it is left.
const record = (() => {
  const KEY = "feeding-language-models";
  let memory = {};

  // `task` may read and write what is kept; what it returns, or undefined without storage.
  const tried = (task) => {
    try {
      return task(window.localStorage);
    } catch {
      return undefined;
    }
  };
  const all = () => tried((storage) => JSON.parse(storage.getItem(KEY))) ?? memory;

  return {
    get: (id) => all()[id],
    // Only the first reply counts: another one for the same id changes nothing.
    put(id, outcome, message) {
      if (record.get(id)) return;
      memory = { ...all(), [id]: { outcome, message } };
      tried((storage) => storage.setItem(KEY, JSON.stringify(memory)));
      document.dispatchEvent(new Event("recorded"));
    },
    clear() {
      memory = {};
      tried((storage) => storage.removeItem(KEY));
    },
    isKept: () => tried((storage) => (storage.setItem(`${KEY}?`, ""), storage.removeItem(`${KEY}?`), true)) ?? false,
    // How many of these ids were right at first, of how many.
    count: (ids) => [ids.filter((id) => record.get(id)?.outcome === "passed").length, ids.length],
  };
})();
