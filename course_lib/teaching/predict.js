// Boxes and buttons before each folded answer. The first guess counts, and stays in this
// browser; who unfolds the answer before has seen it, and is not counted.
(() => {
  const WANTED = "digits, with a point for a fraction, such as 1000 or 0.5";
  // 1,000 is refused, because it might be 1; 0,5 is taken, as some write a half
  const NUMBER = "\\s*-?(\\d+(\\.\\d*)?|\\.\\d+|\\d+,\\d{1,2}|0,\\d+)\\s*";

  const make = (tag, properties = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...inside);
    return made;
  };
  const kept = {}; // for frames in which a browser keeps nothing
  const read = (id) => {
    try { return JSON.parse(localStorage.getItem(`guess/${id}`)) ?? kept[id]; } catch { return kept[id]; }
  };
  const keep = (id, first) => {
    try { localStorage.setItem(`guess/${id}`, JSON.stringify(first)); } catch { kept[id] = first; }
    tally();
  };
  // a guess at the very border is right, however its last bit is rounded
  const isNear = (guess, answer, within) =>
    guess === answer || Math.abs(guess - answer) <= within * Math.abs(answer) * (1 + 1e-9);

  function enhance(block) {
    const { id, parts, because } = JSON.parse(block.dataset.guess);
    const folded = block.querySelector("details");
    const controls = parts.map(control);
    const form = make("form", { noValidate: true }, ...controls, make("button", { textContent: "Guess" }));
    const said = make("p");
    said.setAttribute("role", "status");
    said.style.whiteSpace = "pre-line";
    form.dataset.lmSuppressShortcuts = "true"; // or JupyterLab takes Enter, arrows and letters
    form.addEventListener("keydown", (event) => event.stopPropagation());
    folded.querySelector("summary").textContent = "Show the answer";
    block.prepend(form, said);
    block.dataset.ready = "true";
    if (read(id)) show(read(id));

    folded.addEventListener("toggle", () => {
      if (!folded.open) return;
      if (!read(id)) keep(id, { right: null });
      tell();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const missing = parts.findIndex((_, n) => !isGiven(form[`part${n}`]));
      if (missing >= 0) {
        const { label, choices } = parts[missing];
        const given = choices ? "" : form[`part${missing}`].value.trim();
        const plain = /^-?\d{1,3}(,\d{3})+$/.test(given) ? ` Leave out the comma: ${given.replaceAll(",", "")}.` : "";
        said.textContent = `${label}: please ${choices ? "choose one" : `give ${WANTED}`}.${plain} (Nothing was counted.)`;
        controls[missing].querySelector("input").focus();
        return;
      }
      const given = parts.map(({ choices }, n) => {
        const { value } = form[`part${n}`];
        return choices ? value : parseFloat(value.replace(",", "."));
      });
      const right = given.every(isRight);
      const first = read(id);
      if (!first) keep(id, { right, given });
      show({ right, given }, first);
    });

    function isGiven(field) { // buttons that share a name are one field
      return field instanceof RadioNodeList ? field.value !== "" : field.checkValidity();
    }

    function control({ label, choices }, n) {
      const named = { name: `part${n}`, required: true };
      if (!choices) {
        const pattern = label.includes("%") ? `${NUMBER}%?\\s*` : NUMBER;
        const look = { type: "text", inputMode: "decimal", autocomplete: "off", size: 10 };
        return make("label", {}, `${label} `, make("input", { ...named, ...look, pattern, title: WANTED }), " ");
      }
      const buttons = choices.map((value) =>
        make("label", {}, make("input", { ...named, type: "radio", value }), ` ${value} `));
      return make("fieldset", {}, make("legend", { textContent: label }), ...buttons);
    }

    function isRight(guess, n) {
      return isNear(guess, parts[n].answer, parts[n].within ?? 0);
    }

    // a guess of many parts gets every reason that fits; one that names no guess of a part (null) fits any
    function reasons(given) {
      const isSo = (wrong) => wrong.every((part, n) => part === null ||
        isNear(given[n], part, Number.isInteger(part) ? 0 : Math.max(0.01, parts[n].within)));
      const found = because.filter(([wrong]) => isSo(wrong)).map(([, why]) => why);
      const isFraction = ({ label, answer, within }, n) => label.includes("%") && !isRight(given[n], n) &&
        isNear(100 * given[n], answer, Math.max(0.01, within));
      if (parts.some(isFraction)) found.push("That would be right as a fraction, but we asked for a percentage: a half is 50.");
      return found;
    }

    function show({ right, given }, before) {
      const words = [];
      if (right) words.push("✔ Right.");
      if (right === false && parts.length === 1) words.push(`✘ Not this time. You guessed ${given[0]}.`);
      if (right === false && parts.length > 1) { // one line for each part, in words as well, which are read aloud
        const marks = parts.map(({ label }, n) =>
          isRight(given[n], n) ? `\n✔ ${label}: ${given[n]}, right` : `\n✘ ${label}: ${given[n]}, wrong`);
        const met = given.filter(isRight).length;
        words.push(`Not this time: ${met} of ${parts.length} right.${marks.join("")}\n`);
      }
      if (right === false) words.push(...reasons(given));
      if (right === null) words.push("You have seen the answer.");
      if (before) words.push(before.right === null ? "(Not counted: you saw the answer.)" : "(Your first guess counts.)");
      said.textContent = words.join(" ").trim();
      folded.open = true;
    }
  }

  // The prose below an answer unfolds with it: once, so that a reader may close it. It is the first fold below its
  // prompt, and no other one: while a cell runs, its prompt is gone, and its fold would follow the prompt above.
  function tell() {
    let answered = false;
    for (const one of document.querySelectorAll(".guess, details.told")) {
      if (one.matches(".guess")) answered = one.dataset.ready && one.querySelector("details").open;
      else {
        if (answered && !one.dataset.ready) one.open = one.dataset.ready = true;
        answered = false;
      }
    }
  }

  function tally() {
    for (const place of document.querySelectorAll(".tally[data-guesses]")) {
      const all = place.dataset.guesses.split(" ").filter(Boolean).map((id) => read(id)?.right);
      const right = all.filter((one) => one === true).length;
      const open = all.filter((one) => one === undefined).length;
      place.textContent = `${right} of ${all.length} right${open ? `, ${open} still to guess` : ""}`;
    }
  }

  // JupyterLab strips the data of a saved output, until its cell is run
  document.querySelectorAll(".guess[data-guess]:not([data-ready])").forEach(enhance);
  tally();
  // a notebook draws prose when it has time, or when it comes into sight
  window.guessProse ??= new MutationObserver(tell);
  window.guessProse.observe(document.body, { childList: true, subtree: true });
})();
