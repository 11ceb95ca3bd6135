// Slides: what does not fit is made a little smaller, and then divided. The text is never
// smaller than it can be read from the last row.
"use strict";
(() => {
  const GROWS = [1.3, 1.2, 1.1]; // where there is little, and no figure to take the room
  const FITS = [1, 0.94, 0.88, 0.82, 0.76]; // of 26 pixels for prose, 19 for code
  const JOIN_FROM = 0.88;
  const DIVIDE_FROM = 0.82; // one step more is for what cannot be divided
  const deck = document.querySelector(".deck");
  const frames = () => [...deck.querySelectorAll(".frame")];
  const answers = (within, open) =>
    within.querySelectorAll(".answer").forEach((answer) => (answer.open = open));
  let now = 0;

  // --- fitting -----------------------------------------------------------------------
  const bodyOf = (frame) => frame.querySelector(".body");
  const tooHigh = (body) => body.scrollHeight > body.clientHeight + 1;
  const tooWide = (body) => {
    const right = body.getBoundingClientRect().right + 1;
    return [...body.querySelectorAll("table, pre, img, .block")].some(
      (element) =>
        element.getBoundingClientRect().right > right ||
        element.scrollWidth > element.clientWidth + 1
    );
  };
  const fit = (body, sizes) => sizes.some((size) => {
    body.style.setProperty("--fit", size);
    return !tooHigh(body) && !tooWide(body);
  });

  function fitFrom(body, least) {
    // Lines of code that grow stay lines.
    body.classList.add("grown");
    if (!body.querySelector("img") && fit(body, GROWS)) return true;
    body.classList.remove("grown");
    return fit(body, FITS.filter((size) => size >= least));
  }

  function settle(frame) {
    const sizes = FITS.filter((size) => size >= DIVIDE_FROM);
    const body = bodyOf(frame);
    if (fitFrom(body, DIVIDE_FROM)) return;
    if (tooWide(body)) {
      body.classList.add("wrapped");
      if (fit(body, sizes)) return;
    }
    const next = divide(frame);
    fit(body, FITS);
    if (next) settle(next);
  }

  // Move what does not fit to a slide of its own behind; none if nothing can be moved.
  function divide(frame) {
    const body = bodyOf(frame);
    const rest = [];
    const moveLast = () => {
      rest.unshift(body.lastElementChild);
      body.lastElementChild.remove();
    };
    const overflows = () => tooHigh(body);
    body.style.setProperty("--fit", DIVIDE_FROM + 0.06);
    while (overflows() && body.children.length > 1) moveLast();
    if (overflows()) {
      const tail = divideBlock(body.lastElementChild, overflows);
      if (tail) rest.unshift(tail);
    }
    if (!rest.length) return null;
    // What leads on to a block goes with it, unless nothing would be left.
    while (body.children.length > 1 && body.lastElementChild.matches("[data-with-next]")) {
      moveLast();
    }
    const next = frame.cloneNode(true);
    bodyOf(next).replaceChildren(...rest);
    const heading = next.querySelector(".slide > h1, .slide > h2, .slide > h3");
    const small = document.createElement("h3");
    small.className = "continued";
    small.innerHTML = heading.innerHTML;
    heading.replaceWith(small);
    next.querySelector(".slide").classList.remove("section");
    next.removeAttribute("data-alone");
    frame.after(next);
    return next;
  }

  // Divide long code, a long list or table; return what is cut off, as a block.
  function divideBlock(block, overflows) {
    const dividable = "pre > code, pre:not(:has(code)), tbody, ul, ol";
    const parts = [...block.querySelectorAll(dividable)];
    if (!parts.length) return null;
    const long = parts.reduce((a, b) => (b.offsetHeight > a.offsetHeight ? b : a));
    const tail = block.cloneNode(true);
    const cut = tail.querySelectorAll(dividable)[parts.indexOf(long)];
    // Colors of code never reach over the end of a line.
    const isText = long.matches("pre, code");
    const pieces = isText ? long.innerHTML.split("\n") : [...long.children];
    const keep = (count) => {
      if (isText) long.innerHTML = pieces.slice(0, count).join("\n");
      else long.replaceChildren(...pieces.slice(0, count));
    };
    let kept = pieces.length;
    while (kept > 1 && overflows()) keep(--kept);
    if (kept === pieces.length) return null;
    if (isText) cut.innerHTML = pieces.slice(kept).join("\n");
    else cut.replaceChildren(...pieces.slice(kept));
    if (cut.tagName === "OL") cut.start = (long.start || 1) + kept;
    // Nothing that stood before the divided part is said twice; what came behind it goes
    // with the rest. A table has its head again.
    const outer = (part) => (part.tagName === "TBODY" ? part.closest("table") : part);
    for (let part = outer(cut); part !== tail; part = part.parentElement) {
      while (part.previousElementSibling) part.previousElementSibling.remove();
    }
    for (let part = outer(long); part !== block; part = part.parentElement) {
      while (part.nextElementSibling) part.nextElementSibling.remove();
    }
    return tail;
  }

  // Short neighbors share a slide where nothing becomes small, except that an answer stays
  // apart from its question, and a section opens a slide.
  function join(frame) {
    const next = frame.nextElementSibling;
    if (!next || next.matches("[data-alone], :has(.slide > h1, .slide > h2)")) return;
    const body = bodyOf(frame);
    const blocks = [...bodyOf(next).children];
    const before = [body.className, body.style.cssText];
    const heading = next.querySelector(".slide > h3:not(.continued)")?.cloneNode(true);
    heading?.setAttribute("data-with-next", "");
    body.append(...(heading ? [heading] : []), ...blocks);
    if (fitFrom(body, JOIN_FROM)) {
      next.remove();
      frame.querySelector(".slide").classList.remove("section");
      return join(frame);
    }
    heading?.remove();
    bodyOf(next).append(...blocks);
    [body.className, body.style.cssText] = before;
  }

  // --- showing -----------------------------------------------------------------------
  function number() {
    const all = frames();
    all.forEach((frame, index) => {
      const words = `${index + 1} of ${all.length}`;
      frame.querySelector(".number").textContent = words;
      frame.querySelector(".slide").setAttribute("aria-label", words);
    });
  }
  function show(index, { back = false } = {}) {
    const all = frames();
    now = Math.max(0, Math.min(all.length - 1, index));
    all.forEach((frame, place) => frame.classList.toggle("now", place === now));
    if (!back) answers(all[now], false);
    history.replaceState(null, "", `#${now + 1}`);
    if (inOverview()) all[now].scrollIntoView({ block: "nearest" });
  }
  const fromAddress = () => show((parseInt(location.hash.slice(1)) || 1) - 1);
  const back = () => show(now - 1, { back: true });
  // An answer that is folded is a step of its own.
  function forward() {
    const folded = frames()[now].querySelector(".answer:not([open])");
    if (folded && !inOverview()) folded.open = true;
    else show(now + 1);
  }
  const inOverview = () => document.body.classList.contains("overview");
  const overview = (on) => {
    document.body.classList.toggle("overview", on);
    show(now, { back: true });
  };
  function scale() {
    const factor = Math.min(innerWidth / 1280, innerHeight / 720);
    document.documentElement.style.setProperty("--scale", factor);
  }

  const toggleOverview = () => overview(!inOverview());
  const keys = {
    ArrowRight: forward, ArrowDown: forward, PageDown: forward, " ": forward,
    Enter: forward, n: forward,
    ArrowLeft: back, ArrowUp: back, PageUp: back, p: back,
    Home: () => show(0), End: () => show(Infinity),
    o: toggleOverview, Escape: toggleOverview,
    f: () => document.fullscreenElement
      ? document.exitFullscreen() : document.documentElement.requestFullscreen(),
    "?": () => document.querySelector(".help").classList.toggle("shown"),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter" && inOverview()) return overview(false);
    if (["Enter", " "].includes(event.key) && event.target.closest("a, summary")) return;
    const action = keys[event.key] || keys[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  });
  addEventListener("click", (event) => {
    const frame = event.target.closest(".frame");
    if (inOverview() && frame) {
      now = frames().indexOf(frame);
      overview(false);
    }
  });
  let touched = null;
  addEventListener("touchstart", (event) => { touched = event.changedTouches[0].clientX; });
  addEventListener("touchend", (event) => {
    const moved = event.changedTouches[0].clientX - touched;
    if (Math.abs(moved) > 60 && !inOverview()) {
      if (moved < 0) forward();
      else back();
    }
  });
  addEventListener("resize", scale);
  addEventListener("hashchange", fromAddress);
  addEventListener("beforeprint", () => {
    document.body.classList.remove("overview");
    answers(document, true);
  });

  async function start() {
    await document.fonts.ready;
    await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
    // An open answer takes room: the slides are measured with all of them open.
    answers(document, true);
    frames().forEach(settle);
    frames().forEach((frame) => frame.isConnected && join(frame));
    answers(document, false);
    number();
    scale();
    document.body.classList.add("ready");
    fromAddress();
  }
  start();
})();
