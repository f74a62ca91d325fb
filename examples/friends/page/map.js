// The map: a grid of cells over a drawn ground. Exactly one cell is in the order of the Tab key; arrow keys lead to the others.

const SVG = "http://www.w3.org/2000/svg";

/** The name of a cell, as C4: columns have letters, rows numbers. */
export function cellName({ x, y }) {
  const letter = (at) => String.fromCharCode(65 + at);
  return (x < 26 ? "" : letter(Math.floor(x / 26) - 1)) + letter(x % 26) + (y + 1);
}

/** A few letters for a name. */
export function initials(name) {
  return Array.from(name.trim()).slice(0, 2).join("");
}

export class TownMap {
  /** Fills an element with `width` times `height` cells; `choose` is called with the cell that a person takes. */
  constructor(element, { width, height, radius }, choose) {
    Object.assign(this, { element, width, height, radius });
    element.setAttribute("role", "grid");
    element.setAttribute("aria-label", `Map, ${width} columns and ${height} rows`);
    element.classList.toggle("many", width > 8);
    this.cells = new Map();
    const heads = row("heads", "presentation");
    heads.append(label(""), ...Array.from({ length: width }, (_, x) => label(cellName({ x, y: 0 }).slice(0, -1))));
    const rows = Array.from({ length: height }, (_, y) => {
      const line = row("", "row");
      line.append(label(String(y + 1)), ...Array.from({ length: width }, (_, x) => this.cell(x, y)));
      return line;
    });
    element.replaceChildren(ground(width, height), heads, ...rows);
    this.aim({ x: 0, y: 0 });
    const at = (event) => this.spotOf(event.target.closest(".cell"));
    element.addEventListener("click", (event) => at(event) && this.take(at(event), choose));
    element.addEventListener("keydown", (event) => this.key(event, choose));
  }

  cell(x, y) {
    const cell = document.createElement("div");
    cell.className = "cell";
    cell.setAttribute("role", "gridcell");
    cell.tabIndex = -1;
    this.cells.set(`${x},${y}`, cell);
    Object.assign(cell.dataset, { x, y });
    cell.setAttribute("aria-label", cellName({ x, y }));
    return cell;
  }

  spotOf(cell) {
    return cell && { x: Number(cell.dataset.x), y: Number(cell.dataset.y) };
  }

  at({ x, y }) {
    return this.cells.get(`${x},${y}`);
  }

  take(spot, choose) {
    this.aim(spot);
    this.at(spot).focus();
    choose(spot);
  }

  /** Makes a cell the one that the Tab key leads to. */
  aim(spot) {
    if (this.aimed) this.at(this.aimed).tabIndex = -1;
    this.aimed = spot;
    this.at(spot).tabIndex = 0;
  }

  key(event, choose) {
    const spot = this.spotOf(event.target.closest(".cell"));
    if (!spot || event.altKey || event.metaKey) return;
    const [right, bottom] = [this.width - 1, this.height - 1];
    const to = {
      ArrowLeft: { x: spot.x - 1, y: spot.y },
      ArrowRight: { x: spot.x + 1, y: spot.y },
      ArrowUp: { x: spot.x, y: spot.y - 1 },
      ArrowDown: { x: spot.x, y: spot.y + 1 },
      Home: { x: 0, y: event.ctrlKey ? 0 : spot.y },
      End: { x: right, y: event.ctrlKey ? bottom : spot.y },
      PageUp: { x: spot.x, y: spot.y - 8 },
      PageDown: { x: spot.x, y: spot.y + 8 },
    }[event.key];
    if (to !== undefined) {
      const within = (value, most) => Math.min(Math.max(value, 0), most);
      const next = { x: within(to.x, right), y: within(to.y, bottom) };
      this.aim(next);
      this.at(next).focus();
    } else if (event.key === "Enter" || event.key === " ") {
      choose(spot);
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Shows the person, who may be nowhere, and friends as `{name, spot}`. */
  show(me, friends) {
    const there = new Map();
    const put = (spot, mark, words) => {
      const cell = this.at(spot);
      if (!cell) return;
      const known = there.get(cell) ?? { marks: [], words: [] };
      known.marks.push(mark);
      known.words.push(words);
      there.set(cell, known);
    };
    if (me) put(me, markOf("Me", true), "you are here");
    for (const { name, spot } of friends) put(spot, markOf(initials(name)), `${name} is here`);
    for (const cell of this.cells.values()) {
      const { marks, words } = there.get(cell) ?? { marks: [], words: [] };
      const shown = marks.length > 2 ? [marks[0], markOf(`+${marks.length - 1}`)] : marks;
      cell.setAttribute("aria-label", [cellName(this.spotOf(cell)), ...words].join(", "));
      cell.replaceChildren(...(shown.length === 0 ? [] : [group(shown)]));
    }
    this.element.querySelector(".near")?.remove();
    if (me) this.element.querySelector("svg").append(this.near(me));
  }

  /** Brings a cell into view and into the order of the Tab key. */
  reveal(spot) {
    this.aim(spot);
    this.at(spot).scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  near({ x, y }) {
    const [left, top] = [Math.max(x - this.radius, 0), Math.max(y - this.radius, 0)];
    const [right, bottom] = [Math.min(x + this.radius + 1, this.width), Math.min(y + this.radius + 1, this.height)];
    const inset = 0.04;
    const [width, height] = [right - left - 2 * inset, bottom - top - 2 * inset];
    return drawn("rect", { class: "near", x: left + inset, y: top + inset, width, height, rx: 0.2 });
  }
}

/** A mark with letters; the person's own has another shape. */
export function markOf(letters, isMe = false) {
  const mark = document.createElement("span");
  mark.className = isMe ? "mark me" : "mark";
  mark.setAttribute("aria-hidden", "true");
  const text = document.createElement("span");
  text.textContent = letters;
  mark.append(text);
  return mark;
}

function group(marks) {
  const all = document.createElement("span");
  all.className = "marks";
  all.append(...marks);
  return all;
}

function row(name, role) {
  const line = document.createElement("div");
  line.className = `map-row ${name}`;
  line.setAttribute("role", role);
  return line;
}

function label(text) {
  const head = document.createElement("span");
  head.className = "label";
  head.setAttribute("aria-hidden", "true");
  head.textContent = text;
  return head;
}

function drawn(kind, attributes) {
  const shape = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, String(value));
  return shape;
}

/** A town that does not exist: blocks between streets, a river, two parks. It is the same for all who have a map of that size. */
function ground(width, height) {
  const svg = drawn("svg", { class: "ground", viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  svg.style.width = `calc(${width} * var(--cell))`;
  svg.style.height = `calc(${height} * var(--cell))`;
  svg.append(drawn("rect", { class: "land", width, height }));
  const chance = dice(width * 64 + height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) svg.append(...blocks(x, y, chance));
  }
  svg.append(park(width * 0.2, height * 0.7, 1.3, chance), park(width * 0.8, height * 0.2, 1.05, chance));
  const bend = (part) => `${(width * (0.52 + 0.16 * Math.sin(part * 5.2))).toFixed(2)},${(height * part).toFixed(2)}`;
  const points = Array.from({ length: 25 }, (_, at) => bend((at - 0.5) / 23.5)).join(" ");
  svg.append(drawn("polyline", { class: "water", points, "stroke-width": 0.55, "stroke-linejoin": "round" }));
  for (const at of [0.25, 0.625]) {
    const y = Math.round(height * at);
    svg.append(drawn("line", { class: "street", x1: 0, y1: y, x2: width, y2: y, "stroke-width": 0.13 }));
  }
  return svg;
}

/** The houses of a cell, with a street to the right and one below. */
function blocks(x, y, chance) {
  const cut = 0.3 + 0.4 * chance();
  const isWide = chance() < 0.5;
  const house = (left, top, right, bottom) =>
    drawn("rect", { class: "block", x: x + left, y: y + top, width: right - left, height: bottom - top, rx: 0.04 });
  const [near, far] = [0.08, 0.92];
  return isWide
    ? [house(near, near, cut, far), house(cut + 0.04, near, far, far)]
    : [house(near, near, far, cut), house(near, cut + 0.04, far, far)];
}

function park(x, y, size, chance) {
  const all = drawn("g", {});
  all.append(drawn("rect", { class: "park", x: x - size, y: y - size * 0.8, width: 2 * size, height: 1.6 * size, rx: 0.45 }));
  for (let at = 0; at < 14; at += 1) {
    const [cx, cy] = [x + (chance() - 0.5) * 1.7 * size, y + (chance() - 0.5) * 1.25 * size];
    all.append(drawn("circle", { class: "tree", cx: cx.toFixed(2), cy: cy.toFixed(2), r: (0.07 + 0.07 * chance()).toFixed(2) }));
  }
  return all;
}

/** Numbers from 0 to 1 that are the same everywhere. */
function dice(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
