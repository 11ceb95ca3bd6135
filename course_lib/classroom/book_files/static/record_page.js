// The page that adds up what a reader did in each lesson, to be printed or forgotten.
const table = document.querySelector("#what-you-did table");
if (table) {
  const fill = () => {
    const sums = { guesses: [0, 0], verdicts: [0, 0] };
    for (const cell of table.querySelectorAll("[data-ids]")) {
      const ids = cell.dataset.ids.split(" ").filter(Boolean);
      const [right, all] = record.count(ids);
      const open = ids.filter((id) => !["passed", "failed"].includes(record.get(id)?.outcome)).length;
      cell.textContent = `${right} of ${all}${open && open < all ? `, ${open} open` : ""}`;
      sums[cell.className][0] += right;
      sums[cell.className][1] += all;
    }
    for (const name in sums) table.querySelector(`tfoot .${name}`).textContent = sums[name].join(" of ");
  };
  fill();
  document.querySelector(".unkept").hidden = record.isKept;
  document.querySelector(".print").addEventListener("click", () => window.print());
  document.querySelector(".forget").addEventListener("click", () => {
    if (!confirm("Forget all guesses and verdicts that this browser keeps?")) return;
    record.clear();
    fill();
  });
}
