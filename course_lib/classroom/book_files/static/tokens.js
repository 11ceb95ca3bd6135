// From token to token with the arrow keys: each tells which merge made it, see figures.css.
document.addEventListener(
  "keydown",
  (event) => {
    const box = document.activeElement;
    const neighbor = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
    if (!neighbor || !box.matches("span[title][tabindex]")) return;
    event.stopPropagation(); // they would turn the page
    event.preventDefault();
    box[neighbor]?.focus();
  },
  true,
);
