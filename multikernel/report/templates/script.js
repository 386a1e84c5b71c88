"use strict";
(() => {
  // A number as the page writes it; what is none comes last.
  const number = (text) => parseFloat(text.replace("−", "-").replace(/^[<±]/, ""));

  const compare = (numeric) => (a, b) => {
    if (!numeric) return a.localeCompare(b, undefined, { numeric: true });
    const x = number(a), y = number(b);
    if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
    return x - y;
  };

  // Rows are read from the page, or, where there are too many for it, from the data beside the table.
  const readRows = (table, heads) => {
    const data = document.getElementById(table.id + "-data");
    if (data) return JSON.parse(data.textContent).map((cells) => ({ cells, node: null }));
    return Array.from(table.tBodies[0].rows, (node) => ({
      cells: heads.map((head) => node.cells[head.cellIndex].textContent.trim()),
      node,
    }));
  };

  const makeNode = (cells, heads) => {
    const node = document.createElement("tr");
    cells.forEach((text, i) => {
      const cell = document.createElement(i ? "td" : "th");
      if (!i) cell.scope = "row";
      if (heads[i].classList.contains("number")) cell.className = "number";
      cell.dir = "auto";
      cell.textContent = text;
      node.append(cell);
    });
    return node;
  };

  const enliven = (table) => {
    const heads = Array.from(table.tHead.rows[0].querySelectorAll("th"));
    const most = Number(table.dataset.most);
    const tools = document.getElementById(table.id + "-tools");
    const field = tools && tools.querySelector("input");
    const status = document.getElementById(table.id + "-status");
    const rows = readRows(table, heads);
    let order = rows;

    const show = () => {
      const wanted = field ? field.value.toLowerCase().split(/\s+/).filter(Boolean) : [];
      const found = order.filter((row) => {
        row.text ??= row.cells.join(" ").toLowerCase();
        return wanted.every((word) => row.text.includes(word));
      });
      const shown = most ? found.slice(0, most) : found;
      table.tBodies[0].replaceChildren(...shown.map((row) => (row.node ??= makeNode(row.cells, heads))));
      if (!status) return;
      const first = shown.length < found.length ? `the first ${shown.length} of ${found.length}` : `${shown.length}`;
      status.textContent = wanted.length
        ? `Showing ${first} matching ${found.length === 1 ? "row" : "rows"}, of ${rows.length} in all.`
        : shown.length < rows.length ? `Showing ${first} rows.` : `Showing all ${rows.length} rows.`;
    };

    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const falls = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", falls ? "descending" : "ascending");
        const numeric = head.classList.contains("number");
        const by = compare(numeric);
        const missing = (row) => numeric && Number.isNaN(number(row.cells[column]));
        order = rows.slice().sort((a, b) => {
          const rank = by(a.cells[column], b.cells[column]);
          return falls && !missing(a) && !missing(b) ? -rank : rank;
        });
        show();
      });
    });
    if (field) field.addEventListener("input", show);
    if (tools) tools.hidden = false;
    if (status) show();
  };

  document.querySelectorAll("table[data-most]").forEach(enliven);

  const choice = document.getElementById("gate-view");
  if (choice) {
    const points = document.querySelectorAll("#gate-points .mark");
    const shades = JSON.parse(document.getElementById("gate-shades").textContent);
    const name = document.getElementById("gate-shown");
    const colour = () => {
      const levels = shades.views[choice.value];
      points.forEach((point, i) => { point.style.fill = shades.palette[parseInt(levels[i], 36)]; });
      name.textContent = choice.selectedOptions[0].textContent;
    };
    choice.addEventListener("change", colour);
    document.getElementById("gate-tools").hidden = false;
    colour(); // a page that was reloaded keeps its choice
  }

  // A map says the value of the cell under the pointer; tables have them all.
  document.querySelectorAll("figure[data-cells]").forEach((figure) => {
    const { rows, columns, values } = JSON.parse(figure.dataset.cells), image = figure.querySelector("image");
    if (!image) return;
    const hint = "Point at a cell to read it.", note = document.createElement("p");
    note.className = "hover";
    note.textContent = hint;
    figure.append(note);
    figure.addEventListener("pointermove", (event) => {
      const box = image.getBoundingClientRect();
      const i = Math.floor((event.clientY - box.top) / box.height * rows.length);
      const j = Math.floor((event.clientX - box.left) / box.width * columns.length);
      const value = values[i]?.[j];
      note.textContent = value === undefined ? hint : `${rows[i]}, ${columns[j]}: ${value}`;
    });
    figure.addEventListener("pointerleave", () => { note.textContent = hint; });
  });

  // A table or picture that is wider than its window says that it scrolls, and keys scroll it.
  const measure = (box) => {
    const wide = box.toggleAttribute("data-wide", box.scrollWidth > box.clientWidth + 1);
    if (box.tagName === "FIGURE") wide ? box.setAttribute("tabindex", "0") : box.removeAttribute("tabindex");
  };
  const observer = new ResizeObserver((entries) => entries.forEach((entry) => measure(entry.target)));
  document.querySelectorAll(".scroll, figure").forEach((box) => observer.observe(box));

  // Paper does not scroll: a table of very many columns is printed in blocks of them, each with its row heads.
  const widest = 20;
  const makeBlocks = (table) => {
    const heads = Array.from(table.tHead.rows[0].cells);
    const given = heads.flatMap((head, i) => head.classList.contains("name") ? [i] : []);
    if (given.length <= widest) return [];
    const count = Math.ceil(given.length / widest), size = Math.ceil(given.length / count);
    return Array.from({ length: count }, (_, b) => {
      const left = new Set(given.filter((_, i) => Math.floor(i / size) !== b));
      const block = table.cloneNode(true);
      block.removeAttribute("id");
      for (const row of block.rows) Array.from(row.cells).forEach((cell, i) => { if (left.has(i)) cell.remove(); });
      block.classList.add("block");
      block.caption.firstElementChild.append(` Part ${b + 1} of ${count}.`);
      return block;
    });
  };
  let blocks = [];
  const unblock = () => {
    blocks.forEach((block) => block.remove());
    blocks = [];
    document.querySelectorAll("table.blocked").forEach((table) => table.classList.remove("blocked"));
  };

  // Paper cannot be unfolded.
  const folded = [];
  addEventListener("beforeprint", () => {
    unblock();
    document.querySelectorAll("table.crowd").forEach((table) => {
      const made = makeBlocks(table);
      if (!made.length) return;
      table.after(...made);
      table.classList.add("blocked");
      blocks.push(...made);
    });
    document.querySelectorAll("details:not([open])").forEach((part) => { folded.push(part); part.open = true; });
  });
  addEventListener("afterprint", () => {
    unblock();
    folded.splice(0).forEach((part) => { part.open = false; });
  });
})();
