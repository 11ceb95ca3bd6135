// The presenter's view: a second window with the slide that the room sees, the step that
// comes next, a clock, and the guide's notes. It needs no server, because this page writes
// the window itself.
"use strict";
(() => {
  const deck = document.querySelector(".deck");
  const changes = new MutationObserver(refresh);
  let view = null;

  function open() {
    if (view && !view.closed) return view.focus();
    view = window.open("", "_blank", "popup,width=1280,height=800");
    if (!view) return alert("The browser blocked the second window: allow pop-ups here.");
    const styles = document.querySelector("style").outerHTML;
    const parts = document.querySelector("template.presenter").innerHTML;
    view.document.write(`<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
      <base target="_blank">${styles}</head><body class="presenter">${parts}</body></html>`);
    view.document.close();
    view.document.title = `Presenter: ${document.title}`;
    const began = performance.now();
    const tick = () => {
      const time = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
      const minutes = Math.floor((performance.now() - began) / 60000);
      find(".clock").textContent = `${time} · ${minutes} min`;
    };
    tick();
    view.setInterval(tick, 1000);
    view.addEventListener("resize", scale);
    view.addEventListener("keydown", pass);
    changes.observe(deck, {
      subtree: true, childList: true, attributes: true, attributeFilter: ["class", "open"],
    });
    refresh();
  }
  const find = (selector) => view.document.querySelector(selector);

  // Show the slide, and what the next key brings: the folded answer, or the next slide.
  function refresh() {
    if (view.closed) return changes.disconnect();
    const now = deck.querySelector(".frame.now");
    const folded = now.querySelector(".answer:not([open])");
    const next = folded ? now : now.nextElementSibling;
    fill(find(".pane.now"), now);
    const shown = fill(find(".pane.next"), next);
    shown?.querySelectorAll(".answer").forEach((answer) => (answer.open = folded !== null));
    scale();
  }
  function fill(pane, frame) {
    pane.replaceChildren(...(frame ? [view.document.importNode(frame, true)] : []));
    return pane.firstElementChild;
  }
  function scale() {
    view.document.querySelectorAll(".pane").forEach((pane) => {
      pane.style.setProperty("--scale", pane.clientWidth / 1280);
    });
  }

  // A key does in the second window what it does here, but arrows scroll the notes there
  // once somebody has clicked on them.
  function pass(event) {
    const scrolls = ["ArrowUp", "ArrowDown", " "].includes(event.key);
    if (event.ctrlKey || event.altKey || event.metaKey || event.key === "f") return;
    if (scrolls && event.target.closest(".notes")) return;
    const again = { key: event.key, bubbles: true, cancelable: true };
    if (!document.body.dispatchEvent(new KeyboardEvent("keydown", again))) event.preventDefault();
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key.toLowerCase() === "s") open();
  });
  addEventListener("pagehide", () => view?.close());
})();
