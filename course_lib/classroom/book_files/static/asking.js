// Puts a box or buttons before each answer that a page has folded. The first guess counts.
// Who unfolds the answer before has seen it, and is not counted.
const SIGNS = { passed: "✔", failed: "✘", seen: "○" };

for (const block of document.querySelectorAll(".asked")) ask(block);
for (const place of document.querySelectorAll(".tally")) {
  tally(place);
  document.addEventListener("recorded", () => tally(place));
}

// On paper nothing can be unfolded. What answers a prompt stays folded there, too.
let unfolded = [];
window.addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not(.asked details):not([open])")];
  for (const part of unfolded) part.open = true;
});
window.addEventListener("afterprint", () => {
  for (const part of unfolded) part.open = false;
});

function ask(block) {
  const asked = JSON.parse(block.dataset.asked);
  const folded = block.querySelector("details");
  const form = make("form", { className: "reply" });
  const said = make("p", { className: "said" });
  said.setAttribute("role", "status");
  block.insertBefore(form, folded);
  block.insertBefore(said, folded);
  folded.querySelector("summary").textContent = "Show the answer";

  const first = record.get(asked.id);
  if (first) show(first);
  folded.addEventListener("toggle", () => {
    if (!folded.open || record.get(asked.id)) return;
    record.put(asked.id, "seen", "");
    show(record.get(asked.id));
  });

  if (asked.choices?.length) {
    form.setAttribute("role", "group");
    form.setAttribute("aria-label", asked.question);
    for (const choice of asked.choices) {
      const button = make("button", { type: "button", textContent: choice });
      button.addEventListener("click", () => {
        for (const each of form.children) each.setAttribute("aria-pressed", each === button);
        take(choice);
      });
      form.append(button);
    }
  } else {
    const box = make("input", { type: "text", autocomplete: "off", placeholder: asked.wanted });
    box.setAttribute("aria-label", `Your guess: ${asked.question}`);
    if (asked.wanted === "a number") box.inputMode = "decimal";
    form.append(box, make("button", { textContent: "Guess" }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      take(box.value);
    });
  }

  function take(text) {
    const reply = judge(asked, text);
    const before = record.get(asked.id);
    if (reply.outcome !== "raised") {
      if (before?.outcome === "seen") reply.message += " (Not counted: you saw the answer.)";
      else if (before) reply.message += " Your first guess counts.";
      record.put(asked.id, reply.outcome, reply.message);
    }
    show(reply);
  }

  function show({ outcome, message }) {
    said.className = `said ${outcome}`;
    said.textContent = message;
    if (outcome === "raised") return;
    folded.open = true;
    if (outcome !== "seen") {
      block.classList.add("answered");
      folded.hidden = !asked.verdict; // the reply tells the answer
    }
    unfoldAfter(block);
  }
}

// What comes between a prompt and the next one is folded until the guess.
function unfoldAfter(block) {
  const parts = [...document.querySelectorAll(".asked, details.below-input")];
  for (const part of parts.slice(parts.indexOf(block) + 1)) {
    if (part.matches(".asked")) return;
    part.open = true;
  }
}

function tally(place) {
  const asked = [...document.querySelectorAll(".asked")].map((block) => JSON.parse(block.dataset.asked));
  const lines = [
    ["guesses", asked.filter(({ verdict }) => !verdict)],
    ["verdicts", asked.filter(({ verdict }) => verdict)],
  ].filter(([, those]) => those.length);
  place.replaceChildren(
    ...lines.map(([name, those]) => {
      const [right, all] = record.count(those.map(({ id }) => id));
      const line = make("p", {});
      line.append(make("strong", { textContent: `${right} of ${all} ${name} right ` }));
      for (const { id } of those) {
        const outcome = record.get(id)?.outcome;
        line.append(make("span", { className: `sign ${outcome}`, textContent: SIGNS[outcome] ?? "○" }));
      }
      return line;
    }),
  );
}

function make(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}
