"use strict";
// Tables sort by a click on a head; points of plots show their values under the pointer; paper shows what is folded. The page is whole without.
for (const head of document.querySelectorAll("table.rows thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = head.textContent;
  head.replaceChildren(button);
  button.addEventListener("click", () => {
    const table = head.closest("table");
    const body = table.tBodies[0];
    const column = head.cellIndex;
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const key = (row) => {
      const cell = row.cells[column];
      const number = Number.parseFloat(cell.dataset.value);
      return { number, text: cell.textContent };
    };
    const order = (a, b) => {
      const [x, y] = [key(a), key(b)];
      const [xn, yn] = [Number.isNaN(x.number), Number.isNaN(y.number)];
      if (xn !== yn) return xn ? 1 : -1;
      const less = xn ? x.text.localeCompare(y.text, "en", { numeric: true }) : x.number - y.number;
      return down ? -less : less;
    };
    body.append(...[...body.rows].sort(order));
  });
}
// On paper nothing is folded.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not(.json, [open])")];
  for (const part of folded) part.open = true;
});
addEventListener("afterprint", () => {
  for (const part of folded) part.open = false;
});
const tip = document.createElement("div");
tip.className = "tip";
tip.hidden = true;
tip.setAttribute("aria-hidden", "true");
document.body.append(tip);
for (const point of document.querySelectorAll("circle.hit")) {
  const words = point.querySelector("title").textContent;
  point.querySelector("title").remove();
  point.addEventListener("pointerenter", (event) => {
    tip.textContent = words;
    tip.hidden = false;
    const left = Math.min(event.pageX + 12, window.scrollX + document.documentElement.clientWidth - tip.offsetWidth - 8);
    tip.style.left = `${Math.max(left, 8)}px`;
    tip.style.top = `${event.pageY + 14}px`;
  });
  point.addEventListener("pointerleave", () => { tip.hidden = true; });
}
