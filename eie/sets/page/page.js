"use strict";

// The examples of a set: a grid of pictures, narrowed by a form, each to be opened.
const examples = JSON.parse(document.getElementById("examples").textContent);
const form = document.querySelector(".filter");
const grid = document.querySelector(".grid");
const more = document.querySelector(".more");
const dialog = document.querySelector("dialog");
const AT_ONCE = 60;
const words = examples.map((e) =>
  [e.id, e.question, ...e.candidates, e.reason, ...e.concepts, ...e.levels, e.room].join(" ").toLowerCase());
let found = [];
let shown = 0;
let open = -1;

// An element with a class, and inside it texts (as texts) and elements.
function make(tag, kind, ...inside) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  element.append(...inside.filter((piece) => piece !== null && piece !== ""));
  return element;
}

function picture(file) {
  const image = make("img");
  // A picture lies in the set's own folder, whatever a line says.
  if (/^images\/[0-9A-Za-z_-]+\.png$/.test(file)) image.src = file;
  image.alt = "What was seen";
  image.loading = "lazy";
  return image;
}

function tile(number) {
  const example = examples[found[number]];
  const button = make("button", "tile",
    picture(example.image),
    make("span", "asked", example.question),
    make("span", "answer", example.candidates[example.answer]),
    make("small", "", [example.kind, example.split, example.room].filter(Boolean).join(" · ")));
  button.type = "button";
  button.addEventListener("click", () => show(number));
  return button;
}

function extend() {
  const until = Math.min(found.length, shown + AT_ONCE);
  const tiles = [];
  for (; shown < until; shown++) tiles.push(tile(shown));
  grid.append(...tiles);
  more.hidden = shown >= found.length;
}

function narrow() {
  const wanted = form.find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (e) => (!form.split.value || e.split === form.split.value)
    && (!form.kind.value || e.kind === form.kind.value)
    && (!form.verb.selectedIndex || e.verb === form.verb.value)
    && (!form.object.selectedIndex || e.objects.includes(form.object.value))
    && (!form.room.selectedIndex || e.room === form.room.value);
  found = [...examples.keys()].filter((i) => fits(examples[i]) && wanted.every((w) => words[i].includes(w)));
  shown = 0;
  grid.replaceChildren();
  form.querySelector("output").textContent = found.length + " of " + examples.length;
  extend();
}

function list(label, texts) {
  if (!texts.length) return null;
  return make("div", "", make("h3", "", label), make("p", "", texts.join(" → ")));
}

function film(example) {
  if (!example.past.length) return null;
  return make("ol", "film", ...example.past.map((past) => make("li", past.failed ? "failed" : "",
    past.image ? picture(past.image) : make("i"),
    make("span", "", [past.action, past.feedback].filter(Boolean).join(". ")))));
}

// The topology graph: a column for each depth, a row for each chain; the next subtask is lit.
function graph(made) {
  if (!made || !made.graph.length) return null;
  const places = {};
  const taken = new Set();
  const boxes = made.graph.map((subtask) => {
    const before = subtask.needs.map((name) => places[name]).filter(Boolean);
    const column = 1 + Math.max(0, ...before.map((place) => place.column));
    let row = before.length ? before[0].row : 1;
    while (taken.has(column + " " + row)) row += 1;
    taken.add(column + " " + row);
    places[subtask.name] = { column, row };
    const box = make("li", subtask.state + (before.length ? " after" : ""), subtask.wish);
    box.style.gridArea = row + " / " + column;
    box.title = subtask.state + (subtask.needs.length ? ", after: " + subtask.needs.join(", ") : "");
    return box;
  });
  return make("div", "", make("h3", "", "Subtasks"), make("ol", "graph", ...boxes));
}

function origin(made, left) {
  if (!made) return null;
  const facts = [["Task", made.task], ["Evolved by", made.change], ["From", made.parents.join(" ← ")],
    ["Author", made.author], ["Seed", String(made.seed)], ["Event", made.event], ["Actions left", String(left)]];
  const told = make("dl", "facts line", ...facts.filter((fact) => fact[1]).map(
    ([name, value]) => make("div", "", make("dt", "", name), make("dd", "", value))));
  return make("details", "", make("summary", "", "Where it comes from"), told,
    list("Done before", made.done), list("The expert's way from here", made.plan));
}

function tell(example) {
  const options = example.candidates.map((text, place) =>
    make("li", place === example.answer ? "right" : "", text));
  const tags = example.concepts.map((concept) => make("span", "", concept));
  return [
    make("figure", "", picture(example.image),
      make("figcaption", "", [example.room, example.split, example.kind].filter(Boolean).join(" · "))),
    make("div", "telling",
      make("h2", "", example.levels.filter((level, place, all) => all.indexOf(level) === place).join(" › ")),
      film(example),
      make("p", "said question", example.question),
      make("ol", "options", ...options),
      make("p", "said", example.reason),
      make("p", "tags", ...tags),
      graph(example.origin),
      origin(example.origin, example.left)),
  ];
}

function show(number) {
  open = Math.max(0, Math.min(found.length - 1, number));
  while (open >= shown) extend();
  const example = examples[found[open]];
  dialog.querySelector(".one").replaceChildren(...tell(example));
  dialog.querySelector(".bar span").textContent = example.id + ", " + (open + 1) + " of " + found.length;
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
}

const moves = { ArrowLeft: () => show(open - 1), ArrowRight: () => show(open + 1) };
dialog.addEventListener("keydown", (event) => {
  if (!Object.hasOwn(moves, event.key) || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  moves[event.key]();
});
dialog.addEventListener("click", (event) => {
  const name = event.target.name;
  if (name === "before") show(open - 1);
  else if (name === "after") show(open + 1);
  else if (name === "close" || event.target === dialog) dialog.close();
});
dialog.addEventListener("close", () => { grid.children[open]?.focus(); });
form.addEventListener("input", narrow);
form.addEventListener("submit", (event) => event.preventDefault());
more.querySelector("button").addEventListener("click", extend);
form.hidden = false;
narrow();
