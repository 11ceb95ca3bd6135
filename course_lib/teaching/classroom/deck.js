// Slides: what does not fit is made a little smaller, and then divided. The text is never
// smaller than it can be read from the last row.
"use strict";
(() => {
  const FITS = [1, 0.94, 0.88, 0.82, 0.76]; // of 26 pixels for prose, 19 for code
  const DIVIDE_FROM = 0.82; // one step more is for what cannot be divided
  const deck = document.querySelector(".deck");
  const frames = () => [...deck.querySelectorAll(".frame")];
  let now = 0;

  // --- fitting -----------------------------------------------------------------------
  const bodyOf = (frame) => frame.querySelector(".body");
  const fitsAt = (frame, fit) => {
    const body = bodyOf(frame);
    body.style.setProperty("--fit", fit);
    return body.scrollHeight <= body.clientHeight + 1 && !tooWide(body);
  };
  const tooWide = (body) => {
    const right = body.getBoundingClientRect().right + 1;
    return [...body.querySelectorAll("table, pre, img, .block")].some(
      (element) => element.getBoundingClientRect().right > right
    );
  };
  const fit = (frame, fits) => fits.some((scale) => fitsAt(frame, scale));

  function settle(frame) {
    const sizes = FITS.filter((scale) => scale >= DIVIDE_FROM);
    const body = bodyOf(frame);
    if (fit(frame, sizes)) return;
    if (tooWide(body)) {
      body.classList.add("wrapped");
      if (fit(frame, sizes)) return;
    }
    const next = divide(frame);
    if (next) {
      fit(frame, FITS);
      settle(next);
      return;
    }
    fit(frame, FITS);
  }

  // Move what does not fit to a slide of its own behind; none if nothing can be moved.
  function divide(frame) {
    const body = bodyOf(frame);
    fitsAt(frame, DIVIDE_FROM + 0.06);
    const blocks = [...body.children];
    const rest = [];
    const overflows = () => body.scrollHeight > body.clientHeight + 1;
    while (overflows() && body.children.length > 1) {
      rest.unshift(body.lastElementChild);
      body.lastElementChild.remove();
    }
    if (overflows()) {
      const tail = divideBlock(body.lastElementChild, overflows);
      if (tail) rest.unshift(tail);
    }
    // What leads on to a block goes with it, unless nothing would be left.
    while (
      rest.length && body.children.length > 1 &&
      body.lastElementChild.hasAttribute("data-with-next")
    ) {
      rest.unshift(body.lastElementChild);
      body.lastElementChild.remove();
    }
    if (!rest.length) return null;
    const next = frame.cloneNode(true);
    next.removeAttribute("id");
    bodyOf(next).replaceChildren(...rest);
    const heading = next.querySelector(".slide > h1, .slide > h2, .slide > h3");
    if (heading) {
      const small = document.createElement("h3");
      small.className = "continued";
      small.innerHTML = heading.innerHTML;
      heading.replaceWith(small);
    }
    next.querySelector(".slide").classList.remove("section");
    frame.after(next);
    return next;
  }

  // Divide long code, a long list or table; return what is cut off, as a block.
  function divideBlock(block, overflows) {
    const parts = [...block.querySelectorAll("pre, tbody, ul, ol")];
    if (!parts.length) return null;
    const long = parts.reduce((a, b) => (b.offsetHeight > a.offsetHeight ? b : a));
    const tail = block.cloneNode(true);
    const cut = tail.querySelectorAll("pre, tbody, ul, ol")[parts.indexOf(long)];
    if (long.tagName === "PRE") {
      const code = long.querySelector("code") || long;
      const lines = code.innerHTML.split("\n");
      const open = []; // colors reach over no line's end but in texts of several lines
      let kept = lines.length;
      while (kept > 1 && overflows()) code.innerHTML = balanced(lines.slice(0, --kept), open);
      if (kept === lines.length) return null;
      const begun = open.map((tag) => tag).join("");
      (cut.querySelector("code") || cut).innerHTML = begun + lines.slice(kept).join("\n");
    } else {
      const items = long.children.length;
      while (long.children.length > 1 && overflows()) long.lastElementChild.remove();
      if (items === long.children.length) return null;
      for (let n = long.children.length; n > 0; n--) cut.firstElementChild.remove();
      if (cut.tagName === "OL") cut.start = (long.start || 1) + long.children.length;
    }
    // Nothing that stood before the divided part is said twice.
    for (let part = cut.tagName === "TBODY" ? cut.closest("table") : cut;
      part && part !== tail; part = part.parentElement) {
      while (part.previousElementSibling) part.previousElementSibling.remove();
    }
    // What came behind it goes with the rest.
    for (let part = long.tagName === "TBODY" ? long.closest("table") : long;
      part && part !== block; part = part.parentElement) {
      while (part.nextElementSibling) part.nextElementSibling.remove();
    }
    return tail;
  }

  // Lines of colored code with all spans closed; those that were open are put into `open`.
  function balanced(lines, open) {
    const text = lines.join("\n");
    open.length = 0;
    for (const tag of text.match(/<\/?span[^>]*>/g) || []) {
      if (tag.startsWith("</")) open.pop();
      else open.push(tag);
    }
    return text + "</span>".repeat(open.length);
  }

  // --- showing -----------------------------------------------------------------------
  function number() {
    const all = frames();
    all.forEach((frame, index) => {
      const words = `${index + 1} of ${all.length}`;
      frame.querySelector(".number").textContent = words;
      const slide = frame.querySelector(".slide");
      slide.setAttribute("role", "group");
      slide.setAttribute("aria-roledescription", "slide");
      slide.setAttribute("aria-label", words);
    });
  }
  function show(index, { back = false } = {}) {
    const all = frames();
    now = Math.max(0, Math.min(all.length - 1, index));
    all.forEach((frame, place) => frame.classList.toggle("now", place === now));
    if (!back) all[now].querySelectorAll(".answer").forEach((d) => (d.open = false));
    history.replaceState(null, "", `#${now + 1}`);
    if (inOverview()) all[now].scrollIntoView({ block: "nearest" });
  }
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

  const help = document.querySelector(".help");
  const keys = {
    ArrowRight: forward, PageDown: forward, " ": forward, Enter: forward, n: forward,
    ArrowDown: forward,
    ArrowLeft: () => show(now - 1, { back: true }), p: () => show(now - 1, { back: true }),
    PageUp: () => show(now - 1, { back: true }), ArrowUp: () => show(now - 1, { back: true }),
    Home: () => show(0), End: () => show(Infinity),
    o: () => overview(!inOverview()), Escape: () => overview(!inOverview()),
    f: () => document.fullscreenElement
      ? document.exitFullscreen() : document.documentElement.requestFullscreen(),
    "?": () => help.classList.toggle("shown"),
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
      else show(now - 1, { back: true });
    }
  });
  addEventListener("resize", scale);
  addEventListener("hashchange", () => show((parseInt(location.hash.slice(1)) || 1) - 1));
  addEventListener("beforeprint", () => {
    document.body.classList.remove("overview");
    document.querySelectorAll(".answer").forEach((d) => (d.open = true));
  });

  async function start() {
    await document.fonts.ready;
    await Promise.all([...document.images].map((image) => image.decode().catch(() => {})));
    // An open answer takes room: the slides are measured with all of them open.
    document.querySelectorAll(".answer").forEach((d) => (d.open = true));
    frames().forEach(settle);
    document.querySelectorAll(".answer").forEach((d) => (d.open = false));
    number();
    scale();
    document.body.classList.add("ready");
    show((parseInt(location.hash.slice(1)) || 1) - 1);
  }
  start();
})();
