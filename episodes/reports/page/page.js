"use strict";

// An episode: one step at a time, chosen from a strip of images or with the keys.
function film(steps, before) {
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
    if (step.dataset.judged) button.dataset.judged = step.dataset.judged;
    const judged = step.dataset.judged ? ", judged " + step.dataset.judged : "";
    button.setAttribute("aria-label", "Step " + name.textContent + ", " + step.dataset.outcome + judged);
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
  const map = document.querySelector(".plan");
  const stands = map ? [...map.querySelectorAll(".stand")] : [];
  let now = -1;
  let playing = 0;

  // The map goes along from step to step, beside the image.
  function onMap(step) {
    const number = Number(step.id.replace("step-", ""));
    for (const stand of stands) {
      stand.classList.toggle("now", Number(stand.dataset.step) === number);
      stand.classList.toggle("later", Number(stand.dataset.step) > number);
      // Over other places, and under the names of things.
      if (stand.classList.contains("now")) stand.parentNode.insertBefore(stand, map.querySelector(".stand ~ text"));
    }
    const passed = stands.filter((stand) => Number(stand.dataset.step) <= number);
    map.querySelector(".way").setAttribute("points", passed.map((stand) => {
      const { e, f } = stand.transform.baseVal.getItem(0).matrix;
      return e.toFixed(1) + "," + f.toFixed(1);
    }).join(" "));
    step.append(map);
  }

  function go(number) {
    number = Math.max(0, Math.min(steps.length - 1, number));
    if (number === now) return;
    const first = now < 0;
    now = number;
    steps.forEach((step, place) => { step.hidden = place !== now; });
    if (map) onMap(steps[now]);
    for (const mark of marks) mark.classList.toggle("now", mark.getAttribute("href") === "#" + steps[now].id);
    buttons.forEach((button, place) => {
      if (place === now) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    });
    const { offsetLeft, offsetWidth } = buttons[now];
    strip.scrollLeft = offsetLeft - strip.offsetLeft - (strip.clientWidth - offsetWidth) / 2;
    // Before the page has loaded, the browser would scroll to a new fragment.
    if (!first) history.replaceState(null, "", "#" + steps[now].id);
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
  const fromAddress = () => steps.findIndex((step) => "#" + step.id === location.hash);
  document.body.classList.add("paged");
  (document.querySelector(".value") ?? document.getElementById("steps")).before(strip, keys);
  const marks = curve();
  const live = document.body.dataset.live !== undefined;
  const at = fromAddress() >= 0 ? fromAddress() : live ? steps.length - 1 : 0;
  go(before === undefined ? at : before.last ? steps.length - 1 : before.step);
  return {
    press(event) {
      const busy = event.ctrlKey || event.altKey || event.metaKey || event.target.closest("video, summary, input, a:not(.value a), pre, .command");
      if (busy || !Object.hasOwn(moves, event.key)) return;
      event.preventDefault();
      moves[event.key]();
    },
    followAddress() { if (fromAddress() >= 0) go(fromAddress()); },
    leave() {
      clearInterval(playing);
      return { step: now, last: now === steps.length - 1 };
    },
  };
}

// What a point of the value curve says stands below it while it is pointed at or has the focus.
function curve() {
  const marks = [...document.querySelectorAll(".value a")];
  const told = document.querySelector(".value output");
  const usual = told?.textContent;
  for (const mark of marks) {
    const say = () => { told.textContent = mark.getAttribute("aria-label"); };
    for (const event of ["mouseenter", "focus"]) mark.addEventListener(event, say);
    for (const event of ["mouseleave", "blur"]) mark.addEventListener(event, () => { told.textContent = usual; });
  }
  return marks;
}

// An image in a message stands elsewhere on the page: shown here too, and kept once.
function showPictures() {
  for (const link of document.querySelectorAll(".picture a")) {
    const shown = document.querySelector(link.hash + " img");
    if (!shown) continue;
    const picture = document.createElement("img");
    picture.src = shown.src;
    picture.alt = "";
    picture.loading = "lazy";
    link.prepend(picture);
  }
}

// A page from the disk may not use the clipboard's own interface; a selected text can be copied.
function copy(text, holder) {
  const field = document.createElement("textarea");
  field.value = text;
  holder.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  return done;
}

function offerCopies() {
  for (const command of document.querySelectorAll(".command")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      button.textContent = copy(command.querySelector("code").textContent, command) ? "Copied" : "Select it to copy";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
      button.focus();
    });
    command.append(button);
  }
}

// The list of a run: rows are plain values, and only those that are looked at are laid out.
const AT_FIRST = 200;
const AT_ONCE = 500;
const NUMBER = 0, GOAL = 1, KIND = 2, ID = 3, ENDING = 4, MET = 5, STEPS = 6, INVALID = 7, SECONDS = 8, TOKENS = 9, HAS = 10, FRAME = 11;

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function duration(seconds) {
  if (seconds < 1) return Math.round(1000 * seconds) + " ms";
  if (seconds < 60) return seconds.toFixed(1) + " s";
  const minutes = Math.floor(Math.round(seconds) / 60);
  const told = minutes < 60 ? minutes + " min " + Math.round(seconds) % 60 + " s"
    : Math.floor(minutes / 60) + " h " + minutes % 60 + " min";
  return told.replace(/ 0 (s|min)$/, "");
}

function layOut(row, endings) {
  const folder = "episodes/" + String(row[NUMBER]).padStart(5, "0");
  const link = (name, text) => element("a", { href: folder + "/" + name, textContent: text });
  const told = element("small", {}, row[KIND].replaceAll("_", " ") + " · ", element("code", { textContent: row[ID] }));
  if (row[HAS] & 2) told.append(" · ", link("episode.mp4", "video"));
  const picture = element("td", { className: "thumb" });
  if (row[FRAME]) picture.append(element("img", { src: row[FRAME], alt: "", loading: "lazy" }));
  const cell = (title, text) => {
    const made = element("td", {}, text);
    made.dataset.title = title;
    return made;
  };
  const count = (value, text) => (value < 0 ? "–" : text(value));
  const ending = element("span", {
    className: "ending " + (row[ENDING] ? "e-" + row[ENDING] : "none"),
    textContent: endings[row[ENDING]] ?? "not ended",
  });
  return element("tr", {},
    picture,
    element("td", { textContent: row[NUMBER] }),
    element("th", { scope: "row" }, row[HAS] & 1 ? link("index.html", row[GOAL]) : row[GOAL], told),
    cell("Ending", ending),
    cell("Conditions", row[MET] ? row[MET][0] + " of " + row[MET][1] : "–"),
    cell("Steps", count(row[STEPS], String)),
    cell("Invalid", count(row[INVALID], String)),
    cell("Time", count(row[SECONDS], duration)),
    cell("Tokens", count(row[TOKENS], (n) => n.toLocaleString("en"))));
}

function list(table, before) {
  const body = table.tBodies[0];
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const rows = read("rows");
  const endings = read("endings");
  const laid = new Map([...body.rows].map((element, place) => [rows[place], element]));
  const texts = new Map(rows.map((row) => [row, (row[GOAL] + " " + row[KIND].replaceAll("_", " ") + " " + row[ID]).toLowerCase()]));
  const form = document.querySelector(".filter");
  const more = document.querySelector(".more");
  const told = form.querySelector("output");
  const texted = new Intl.Collator("en", { numeric: true });
  const columns = {
    number: (row) => row[NUMBER], goal: (row) => row[GOAL], ending: (row) => endings[row[ENDING]] ?? "",
    met: (row) => (row[MET] && row[MET][1] ? row[MET][0] / row[MET][1] : -1),
    steps: (row) => row[STEPS], invalid: (row) => row[INVALID], seconds: (row) => row[SECONDS], tokens: (row) => row[TOKENS],
  };
  let most = before?.most ?? AT_FIRST;

  function show() {
    const words = form.find.value.toLowerCase().split(/\s+/);
    const found = rows.filter((row) => (!form.kind.value || row[KIND] === form.kind.value)
      && (!form.ending.selectedIndex || row[ENDING] === form.ending.value)
      && words.every((word) => texts.get(row).includes(word)));
    body.replaceChildren(...found.slice(0, most).map((row) => {
      if (!laid.has(row)) laid.set(row, layOut(row, endings));
      return laid.get(row);
    }));
    told.textContent = found.length.toLocaleString("en") + " of " + rows.length.toLocaleString("en");
    more.hidden = found.length <= most;
  }

  function sort(head, up) {
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const values = new Map(rows.map((row) => [row, columns[head.dataset.key](row)]));
    const isNumber = typeof values.get(rows[0]) === "number";
    const order = isNumber ? (a, b) => values.get(a) - values.get(b)
      : (a, b) => texted.compare(values.get(a), values.get(b));
    rows.sort((a, b) => (up ? 1 : -1) * order(a, b));
    show();
  }

  for (const head of table.tHead.rows[0].cells) {
    if (!head.dataset.key) continue;
    const button = element("button", { type: "button", textContent: head.textContent });
    button.addEventListener("click", () => sort(head, head.getAttribute("aria-sort") !== "ascending"));
    head.replaceChildren(button);
  }
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  more.querySelector("button").addEventListener("click", () => { most += AT_ONCE; show(); });
  form.hidden = false;
  for (const [name, value] of Object.entries(before?.asked ?? {})) form[name].value = value;
  const sorted = before?.sorted && table.tHead.querySelector("[data-key=" + before.sorted.key + "]");
  if (sorted) sort(sorted, before.sorted.up);
  else show();
  return {
    leave() {
      const head = table.tHead.querySelector("[aria-sort]");
      return {
        most,
        asked: Object.fromEntries(new FormData(form)),
        sorted: head && { key: head.dataset.key, up: head.getAttribute("aria-sort") === "ascending" },
      };
    },
  };
}

// Two columns: episodes and steps that are equal on both sides can be left out.
function onlyDifferences(choice) {
  const box = choice.querySelector("input");
  const items = [...document.querySelectorAll(".item")];
  function show() {
    for (const item of items) {
      const rows = [...item.querySelectorAll("tbody tr")];
      item.hidden = box.checked && item.dataset.differs === undefined;
      for (const row of rows) row.hidden = box.checked && row.dataset.differs === undefined;
    }
  }
  choice.hidden = false;
  box.addEventListener("change", show);
  show();
}

// What the page shows; made anew, with what it was asked for, when a run that goes on has changed.
let shown = null;

function start(before) {
  showPictures();
  offerCopies();
  const steps = [...document.querySelectorAll(".step")];
  const table = document.querySelector("table.episodes");
  const choice = document.querySelector(".only");
  if (choice) onlyDifferences(choice);
  shown = steps.length ? film(steps, before) : table ? list(table, before) : null;
}

async function refresh() {
  const answer = await fetch(location.pathname);
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const focus = document.activeElement?.name;
  const before = shown?.leave();
  const height = scrollY;
  document.title = fresh.title;
  const script = document.querySelector("body > script:not([type])");
  fresh.querySelector("body > script:not([type])").remove();
  document.body.replaceChildren(...fresh.body.children, script);
  start(before);
  if (focus) document.querySelector("[name=" + focus + "]")?.focus();
  scrollTo(0, height);
}

// Changes that come while the page is being made anew are seen to in one go afterwards.
function follow(number) {
  let wanted = false;
  let busy = false;
  async function change() {
    wanted = true;
    if (busy) return;
    busy = true;
    while (wanted) {
      wanted = false;
      await refresh().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 400));
    }
    busy = false;
  }
  // The address begins with a token, which the feed's has to bear too.
  const home = location.pathname.replace(/(episodes\/\d+\/)?[^/]*$/, "");
  new EventSource(`${home}events`).addEventListener("change", (event) => {
    if (number === "" || JSON.parse(event.data).includes(Number(number))) change();
  });
}

document.addEventListener("keydown", (event) => shown?.press?.(event));
addEventListener("hashchange", () => shown?.followAddress?.());
start();
if (document.body.dataset.live !== undefined) follow(document.body.dataset.live);
