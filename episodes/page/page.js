"use strict";

// An episode: one step at a time, chosen from a strip of pictures or with the keys.
function film(steps) {
  const strip = document.createElement("nav");
  strip.className = "strip";
  strip.setAttribute("aria-label", "Steps");
  const buttons = steps.map((step, number) => {
    const button = document.createElement("button");
    const shown = step.querySelector("figure img");
    const picture = document.createElement(shown ? "img" : "i");
    if (shown) { picture.src = shown.src; picture.alt = ""; }
    const name = document.createElement("span");
    name.textContent = step.id.replace("step-", "");
    button.dataset.outcome = step.dataset.outcome;
    button.setAttribute("aria-label", "Step " + name.textContent + ", " + step.dataset.outcome);
    button.append(picture, name);
    button.addEventListener("click", () => go(number));
    strip.append(button);
    return button;
  });
  const keys = document.createElement("p");
  keys.className = "keys";
  for (const [key, what] of [["←", ""], ["→", "step by step"], ["Home", ""], ["End", "to either end"], ["Space", "play"]]) {
    const cap = document.createElement("kbd");
    cap.textContent = key;
    keys.append(cap, " " + what + (what ? "   " : ""));
  }
  let now = -1;
  let playing = 0;

  function go(number) {
    number = Math.max(0, Math.min(steps.length - 1, number));
    if (number === now) return;
    now = number;
    steps.forEach((step, place) => { step.hidden = place !== now; });
    buttons.forEach((button, place) => {
      if (place === now) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    const { offsetLeft, offsetWidth } = buttons[now];
    strip.scrollLeft = offsetLeft - strip.offsetLeft - (strip.clientWidth - offsetWidth) / 2;
    history.replaceState(null, "", "#" + steps[now].id);
  }

  function play() {
    if (playing) { clearInterval(playing); playing = 0; return; }
    if (now === steps.length - 1) go(0);
    playing = setInterval(() => {
      go(now + 1);
      if (now === steps.length - 1) { clearInterval(playing); playing = 0; }
    }, 800);
  }

  const moves = { ArrowLeft: () => go(now - 1), ArrowRight: () => go(now + 1), Home: () => go(0), End: () => go(steps.length - 1), " ": play };
  document.addEventListener("keydown", (event) => {
    const busy = event.ctrlKey || event.altKey || event.metaKey || event.target.closest("video, summary, input, a, pre");
    if (busy || !Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]();
  });
  const fromAddress = () => steps.findIndex((step) => "#" + step.id === location.hash);
  addEventListener("hashchange", () => { if (fromAddress() >= 0) go(fromAddress()); });
  document.body.classList.add("paged");
  document.getElementById("steps").before(strip, keys);
  go(Math.max(0, fromAddress()));
}

// A picture in a message stands elsewhere on the page: shown here too, and kept once.
for (const link of document.querySelectorAll(".picture a")) {
  const shown = document.querySelector(link.hash + " img");
  if (!shown) continue;
  const picture = document.createElement("img");
  picture.src = shown.src;
  picture.alt = "";
  picture.loading = "lazy";
  link.prepend(picture);
}

const steps = [...document.querySelectorAll(".step")];
if (steps.length) film(steps);

// A run: the list of its episodes, sorted and filtered.
function list(table) {
  const [body, later] = table.tBodies;
  const atFirst = later ? body.rows.length : Infinity;
  const rows = [...table.tBodies].flatMap((part) => [...part.rows]);
  const form = document.querySelector(".filter");
  const more = document.querySelector(".more");
  const told = form.querySelector("output");
  const texts = new Map(rows.map((row) => [row, row.cells[2].textContent.toLowerCase()]));
  const numbers = new Intl.Collator("en", { numeric: true });
  let most = atFirst;

  function show() {
    const words = form.find.value.toLowerCase().split(/\s+/);
    let found = 0;
    for (const row of rows) {
      const fits = (!form.kind.value || row.dataset.kind === form.kind.value)
        && (!form.ending.selectedIndex || row.dataset.ending === form.ending.value)
        && words.every((word) => texts.get(row).includes(word));
      found += fits;
      row.hidden = !fits || found > most;
    }
    told.textContent = found + " of " + rows.length;
    more.hidden = found <= most;
  }

  function value(row, column) {
    const cell = row.cells[column];
    return cell.dataset.value ?? cell.textContent.trim();
  }

  function sort(head, column) {
    const up = head.getAttribute("aria-sort") !== "ascending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const values = new Map(rows.map((row) => [row, value(row, column)]));
    const isNumber = rows.every((row) => row.cells[column].dataset.value !== undefined);
    const order = isNumber ? (a, b) => values.get(a) - values.get(b)
      : (a, b) => numbers.compare(values.get(a), values.get(b));
    rows.sort((a, b) => (up ? 1 : -1) * order(a, b));
    body.append(...rows);
    show();
  }

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    if (!head.dataset.key) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    button.addEventListener("click", () => sort(head, column));
    head.replaceChildren(button);
  });
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  more.querySelector("button").addEventListener("click", () => { most += 500; show(); });
  form.hidden = false;
  show();
  later?.classList.remove("later");
}

const table = document.querySelector("table.episodes");
if (table) list(table);
