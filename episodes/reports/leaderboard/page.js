"use strict";
const choices = document.querySelectorAll(".filters select");
const filter = () => {
  for (const board of document.querySelectorAll(".board")) {
    let shown = 0;
    for (const row of board.querySelectorAll("tbody tr")) {
      row.hidden = [...choices].some((one) => one.value && row.dataset[one.name] !== one.value);
      shown += !row.hidden;
    }
    board.hidden = shown === 0;
  }
};
for (const one of choices) one.addEventListener("change", filter);
