// What scrolls sideways can be reached, and scrolled, by keyboard; a slider shows pictures that were drawn ahead.
(() => {
  for (const block of document.querySelectorAll(".frames")) {
    const frames = JSON.parse(block.dataset.frames);
    const [slider, number, picture] = ["input", "output", "img"].map((name) => block.querySelector(name));
    const show = () => {
      const { value, src, alt } = frames[slider.value];
      Object.assign(picture, { src, alt });
      number.value = value;
      slider.setAttribute("aria-valuetext", value);
    };
    slider.addEventListener("input", show);
    addEventListener("load", show); // a browser may have kept where the slider was
  }
  const reach = () => {
    for (const one of document.querySelectorAll("article :is(pre, div, details)")) {
      const scrolls = one.scrollWidth > one.clientWidth && /auto|scroll/.test(getComputedStyle(one).overflowX);
      if (scrolls) one.tabIndex = 0;
      else if (one.tabIndex === 0) one.removeAttribute("tabindex");
    }
  };
  addEventListener("load", reach);
  addEventListener("resize", reach);
  document.addEventListener("toggle", reach, true); // a fold that opens or closes
})();
