
"use strict";
// Everything here only adds to the page: what the session holds is put in as text, never as markup.
(() => {
  const make = (tag, text, properties = {}, ...children) => {
    const element = document.createElement(tag);
    if (text !== null && text !== undefined) element.textContent = text;
    Object.assign(element, properties);
    element.append(...children);
    return element;
  };

  // Tables: sorted by a column, filtered by a text.

  const FEWEST_SORTED = 3, FEWEST_FILTERED = 14;

  const keyOf = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return ["", null];
    const value = cell.dataset.value;
    return [cell.textContent.trim(), value === undefined ? null : Number(value)];
  };

  const compare = (a, b) => {
    if (a[1] !== null && b[1] !== null) return a[1] - b[1];
    return a[0].localeCompare(b[0], "en", { numeric: true });
  };

  // The first time it ascends, then it descends, then the order is that of the page.
  const sortBy = (table, header, column, original) => {
    const body = table.tBodies[0];
    const earlier = header.getAttribute("aria-sort");
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    if (earlier === "descending") {
      body.append(...original);
      return;
    }
    const descending = earlier === "ascending";
    const hasFigures = [...body.rows].some((row) => keyOf(row, column)[1] !== null);
    const rows = [...body.rows].map((row) => [keyOf(row, column), row]);
    // A row without the figure stays at the end in both directions.
    const missing = hasFigures ? rows.filter(([key]) => key[1] === null) : [];
    const present = rows.filter((pair) => !missing.includes(pair));
    present.sort((a, b) => (descending ? -1 : 1) * compare(a[0], b[0]));
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    body.append(...[...present, ...missing].map(([, row]) => row));
  };

  const makeSortable = (table) => {
    const original = [...table.tBodies[0].rows];
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = make("button", header.textContent, { type: "button" });
      header.replaceChildren(button);
      button.addEventListener("click", () => sortBy(table, header, column, original));
    });
  };

  let filters = 0;

  const makeFilter = (table) => {
    const rows = [...table.tBodies[0].rows];
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    filters += 1;
    const input = make("input", null, { type: "search", id: `filter-${filters}` });
    const label = make("label", "Filter rows", { htmlFor: input.id });
    const count = make("span", `${rows.length} rows`);
    count.setAttribute("role", "status");
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        row.hidden = !words.every((word) => texts.get(row).includes(word));
        shown += row.hidden ? 0 : 1;
      }
      count.textContent = `${shown} of ${rows.length} rows`;
    });
    const line = make("div", null, { className: "filter" }, label, input, count);
    table.closest(".scroll").before(line);
  };

  for (const table of document.querySelectorAll("table")) {
    if (!table.tHead || !table.tBodies.length) continue;
    const rows = table.tBodies[0].rows.length;
    if (rows >= FEWEST_FILTERED) makeFilter(table);
    if (rows >= FEWEST_SORTED && !table.dataset.mixed) makeSortable(table);
  }

  // On paper everything is open.

  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const element of closed) element.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const element of closed) element.open = false;
    closed = [];
  });

  // Transcripts: a task is unpacked when somebody opens it.

  for (const note of document.querySelectorAll(".no-script")) note.remove();
  const packed = [...document.querySelectorAll("script.task")];
  const panel = document.getElementById("transcripts");
  const unpacked = new Map();

  const unpack = async (number) => {
    if (!unpacked.has(number)) {
      const binary = atob(packed[number].textContent);
      const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
      const task = JSON.parse(await new Response(stream).text());
      const calls = task.trials.flatMap((trial) => trial.calls ?? []);
      for (const call of calls) if (call.result !== null) call.result = task.results[call.result];
      unpacked.set(number, task);
    }
    return unpacked.get(number);
  };

  // Two lists of calls, aligned by their longest common subsequence; beyond a size, by position.

  const MOST_ALIGNED = 4_000_000;
  const signature = (call) => `${call.tool}\n${call.arguments}`;

  const align = (left, right) => {
    const a = left.map(signature), b = right.map(signature), pairs = [];
    let first = 0;
    while (first < a.length && first < b.length && a[first] === b[first]) first += 1;
    for (let at = 0; at < first; at += 1) pairs.push([left[at], right[at]]);
    const n = a.length - first, m = b.length - first;
    if (n * m > MOST_ALIGNED) {
      for (let at = first; at < Math.max(a.length, b.length); at += 1) pairs.push([left[at], right[at]]);
      return pairs;
    }
    const lengths = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
    for (let i = n - 1; i >= 0; i -= 1) {
      for (let j = m - 1; j >= 0; j -= 1) {
        lengths[i][j] = a[first + i] === b[first + j]
          ? lengths[i + 1][j + 1] + 1 : Math.max(lengths[i + 1][j], lengths[i][j + 1]);
      }
    }
    let i = 0, j = 0;
    const unequal = [[], []];
    const flush = () => {
      const [own, other] = unequal;
      for (let at = 0; at < Math.max(own.length, other.length); at += 1) pairs.push([own[at], other[at]]);
      unequal[0] = [];
      unequal[1] = [];
    };
    while (i < n || j < m) {
      if (i < n && j < m && a[first + i] === b[first + j]) {
        flush();
        pairs.push([left[first + i], right[first + j]]);
        i += 1;
        j += 1;
      } else if (j >= m || (i < n && lengths[i + 1][j] >= lengths[i][j + 1])) {
        unequal[0].push(left[first + i]);
        i += 1;
      } else {
        unequal[1].push(right[first + j]);
        j += 1;
      }
    }
    flush();
    return pairs;
  };

  const isSame = ([left, right]) => left && right && signature(left) === signature(right);

  const shorten = (text, length) => (text.length > length ? `${text.slice(0, length)}…` : text);

  const preformatted = (text, label) => {
    const element = make("pre", text, { tabIndex: 0 });
    element.setAttribute("role", "region");
    element.setAttribute("aria-label", label);
    return element;
  };

  const fold = (label, text) =>
    make("details", null, {}, make("summary", label), preformatted(text, label));

  // Answers are Markdown: a small part of it, of which every text stays text, addresses too.

  const INLINE = /(`{1,3})([^`]+)\1(?!`)|\*\*([^*]+)\*\*|\[([^\][]+)\]\(([^()\s]+)\)/g;

  const renderInline = (text) => {
    const parts = [];
    let end = 0;
    for (const match of text.matchAll(INLINE)) {
      parts.push(text.slice(end, match.index));
      end = match.index + match[0].length;
      if (match[2]) parts.push(make("code", match[2].trim()));
      else if (match[3]) parts.push(make("b", null, {}, ...renderInline(match[3])));
      else parts.push(`${match[4]} (${match[5]})`);
    }
    return [...parts, text.slice(end)];
  };

  const ITEM = /^(\s*)(?:[-*+]|(\d{1,9})[.)])\s+(.*)$/;

  // Lists within lists, by their indents.
  const renderList = (items) => {
    const lists = [];
    let root = null;
    for (const [, indent, number, text] of items) {
      while (lists.length > 1 && indent.length < lists.at(-1).indent) lists.pop();
      if (!lists.length || (indent.length > lists.at(-1).indent && lists.length < 9)) {
        const list = make(number ? "ol" : "ul", null, number ? { start: Number(number) } : {});
        if (root) lists.at(-1).list.lastElementChild.append(list);
        else root = list;
        lists.push({ indent: indent.length, list });
      }
      lists.at(-1).list.append(make("li", null, {}, ...renderInline(text)));
    }
    return root;
  };

  const renderMarkdown = (source) => {
    const parts = [], lines = source.split("\n");
    let paragraph = [], items = [], fence = null, code = [];
    const flush = () => {
      if (paragraph.length) parts.push(make("p", null, {}, ...renderInline(paragraph.join("\n"))));
      if (items.length) parts.push(renderList(items));
      paragraph = [];
      items = [];
    };
    for (const line of lines) {
      const mark = /^\s*(```+|~~~+)/.exec(line), item = ITEM.exec(line);
      const heading = /^#{1,6}\s+(.*)$/.exec(line);
      if (fence !== null) {
        if (mark && mark[1].startsWith(fence) && line.trim() === mark[1]) {
          parts.push(preformatted(code.join("\n"), "Code"));
          fence = null;
        } else code.push(line);
      } else if (mark) {
        flush();
        [fence, code] = [mark[1], []];
      } else if (heading) {
        flush();
        parts.push(make("p", null, { className: "heading" }, ...renderInline(heading[1])));
      } else if (item) {
        if (paragraph.length) flush();
        items.push(item);
      } else if (!line.trim()) flush();
      else if (items.length && /^\s/.test(line)) items.at(-1)[3] += `\n${line.trim()}`;
      else {
        if (items.length) flush();
        paragraph.push(line);
      }
    }
    flush();
    if (fence !== null) parts.push(preformatted(code.join("\n"), "Code"));
    return parts;
  };

  const showCall = (call, trial) => {
    const cell = make("div", null, { className: "call" });
    cell.dataset.owner = trial.name;
    if (!call) {
      cell.append(make("p", "no call", { className: "faint" }));
      return cell;
    }
    const notes = [call.turn === null ? null : `turn ${call.turn}`,
      call.seconds === null || call.seconds < 0.05 ? null : `took ${call.seconds.toFixed(1)} s`,
      call.failed ? "failed" : null, call.result === null ? "no result" : null];
    const summary = make("summary", null, {}, make("b", call.tool), " ",
      make("code", shorten(call.arguments, 160)), " ",
      make("span", notes.filter(Boolean).join(", "), { className: call.failed ? "bad" : "faint" }));
    if (call.text) cell.append(make("p", call.text, { className: "said" }));
    cell.append(make("details", null, {}, summary, preformatted(call.arguments, "Arguments"),
      ...(call.result === null ? [] : [preformatted(call.result, "Result")])));
    return cell;
  };

  const showHead = (trial, largest) => {
    const cell = make("div", null, { className: "head" }, make("h3", trial.name), make("p", `Outcome: ${trial.outcome}`));
    if (trial.figures.length) {
      const list = make("dl", null, { className: "facts" });
      for (const [label, text] of trial.figures) {
        list.append(make("div", null, {}, make("dt", label), make("dd", text)));
      }
      cell.append(list);
    }
    if (trial.key.length) {
      const items = trial.key.map(([file, isNamed]) => make("li", null, {}, make("code", file), " ",
        make("span", isNamed ? "found" : "missed", { className: isNamed ? "good" : "bad" })));
      cell.append(make("p", "Files of the answer key:"), make("ul", null, {}, ...items));
    }
    if (trial.turns.length) {
      const rows = trial.turns.map((tokens, at) => make("tr", null, {}, make("th", String(at + 1), { scope: "row" }),
        make("td", tokens === null ? "not reported" : tokens.toLocaleString("en")),
        make("td", null, {}, ...(tokens === null ? [] : [make("meter", null, { max: largest, value: tokens, ariaHidden: "true" })]))));
      const table = make("table", null, {}, make("caption", "Tokens by turn"), make("tbody", null, {}, ...rows));
      cell.append(make("details", null, {}, make("summary", "Tokens by turn"), table));
    }
    if (trial.cited.length) {
      const labels = { true: ["exists", "good"], false: ["does not exist", "bad"], null: ["not known", "faint"] };
      const items = trial.cited.map(([file, exists]) => make("li", null, {}, make("code", file), " ",
        make("span", labels[exists][0], { className: labels[exists][1] })));
      cell.append(make("details", null, { className: "cited" },
        make("summary", `Files that the answer names: ${items.length}`), make("ul", null, {}, ...items)));
    }
    for (const remark of trial.remarks) cell.append(make("p", remark, { className: "open" }));
    return cell;
  };

  const showEnd = (trial) => {
    const cell = make("div", null, { className: "head" });
    if (trial.last) cell.append(make("h4", "Said last"), make("p", trial.last, { className: "said" }));
    cell.append(make("h4", `Answer of ${trial.name}`));
    const isLost = trial.calls === null && trial.remarks.length > 0;
    if (trial.answer === null) cell.append(make("p", isLost ? "No answer is here; see above." : "There is no answer."));
    else if (trial.markdown) {
      const answer = make("div", null, { className: "answer", tabIndex: 0 }, ...renderMarkdown(trial.answer));
      answer.setAttribute("role", "region");
      answer.setAttribute("aria-label", "Answer");
      cell.append(answer, fold("Answer as text", trial.answer));
    } else cell.append(preformatted(trial.answer, "Answer"));
    if (trial.scored !== null) cell.append(make("h4", "Scored text"), preformatted(trial.scored, "Scored text"));
    for (const [label, text] of trial.notes) cell.append(fold(`Score: ${label}`, text));
    if (trial.errors.trim()) cell.append(fold("Standard error", trial.errors));
    return cell;
  };

  const showCalls = (trials) => {
    const readable = trials.filter((trial) => trial.calls);
    if (!readable.length) return [];
    const lists = readable.map((trial) => trial.calls);
    const rows = lists.length === 2 ? align(lists[0], lists[1]) : lists[0].map((call) => [call]);
    const showRow = (row) => readable.map((trial, at) => showCall(row[at], trial));
    const parts = [];
    if (readable.length < trials.length) parts.push(make("h4", `Calls of ${readable[0].name}`));
    let equal = [], differences = 0;
    const flush = () => {
      if (!equal.length) return;
      const cells = equal.flatMap(showRow);
      const others = equal.filter(([left, right]) => left.result !== right.result || left.failed !== right.failed);
      const count = equal.length === 1 ? "1 equal call" : `${equal.length} equal calls`;
      const text = others.length ? `${count}, ${others.length} with another result` : count;
      parts.push(make("details", null, { className: "equal" }, make("summary", text),
        make("div", null, { className: "pair" }, ...cells)));
      equal = [];
    };
    for (const row of rows) {
      if (row.length === 2 && isSame(row)) {
        equal.push(row);
        continue;
      }
      flush();
      if (row.length === 2 && differences === 0) {
        parts.push(make("h4", "First difference", { id: "first-difference", tabIndex: -1 }));
      }
      differences += 1;
      parts.push(make("div", null, { className: row.length === 2 ? "pair" : "single" }, ...showRow(row)));
    }
    flush();
    if (lists.length === 2 && rows.length && differences === 0) parts.unshift(make("p", "Both made the same calls."));
    return parts;
  };

  let opener = null;
  const closePanel = () => {
    panel.hidden = true;
    opener?.focus();
  };
  panel?.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && packed.length > 1) closePanel();
  });

  const showTask = (number, task, left, right) => {
    const pick = (label, at, others) => {
      const select = make("select", null, { id: `side-${label}` });
      if (others) select.append(new Option("no other", ""));
      task.trials.forEach((trial, index) => select.append(new Option(trial.name, index, false, index === at)));
      if (at === null) select.value = "";
      select.addEventListener("change", () => {
        const [first, second] = ["left", "right"].map((side) => document.getElementById(`side-${side}`).value);
        showTask(number, task, Number(first), second === "" ? null : Number(second));
        document.getElementById(`side-${label}`).focus();
      });
      return make("label", null, {}, label === "left" ? "Trial " : "beside ", select);
    };
    const sides = [left, right].filter((at) => at !== null);
    const trials = sides.map((at) => task.trials[at]);
    const columns = trials.length === 2 ? "pair" : "single";
    const largest = Math.max(1, ...trials.flatMap((trial) => trial.turns.map((tokens) => tokens ?? 0)));
    const close = make("button", "Close", { type: "button" });
    close.addEventListener("click", closePanel);
    panel.replaceChildren(
      make("h2", `${task.trials.some((trial) => trial.calls) ? "Transcripts" : "Trials"}: ${task.title}`),
      make("div", null, { className: "filter" }, pick("left", left, false),
        pick("right", right, true), ...(packed.length > 1 ? [close] : [])),
      ...(task.prompt ? [make("details", null, {}, make("summary", "Prompt"), preformatted(task.prompt, "Prompt"))] : []),
      make("div", null, { className: columns }, ...trials.map((trial) => showHead(trial, largest))),
      ...showCalls(trials),
      make("div", null, { className: columns }, ...trials.map(showEnd)),
    );
    panel.hidden = false;
  };

  // A trial is shown beside the first one of another arm in the same run, or else of any other.

  const findOther = (task, at) => {
    const { arm, run } = task.trials[at];
    const others = task.trials.map((trial, index) => ({ ...trial, index })).filter((trial) => trial.arm !== arm);
    const [other] = [...others.filter((trial) => trial.run === run), ...others];
    return other ? other.index : null;
  };

  const showProblem = (text) => {
    panel.replaceChildren(make("p", text, { role: "alert" }));
    panel.hidden = false;
    panel.focus();
  };

  const open = async (number, trial) => {
    if (!window.DecompressionStream) {
      showProblem("This browser cannot unpack transcripts; a newer one can.");
      return;
    }
    try {
      showTrial(number, trial, await unpack(number));
    } catch (error) {
      showProblem(`These trials cannot be shown: ${error.message}`);
    }
  };

  const showTrial = (number, trial, task) => {
    const other = findOther(task, trial);
    const [left, right] = other !== null && other < trial ? [other, trial] : [trial, other];
    showTask(number, task, left, right);
    const difference = document.getElementById("first-difference");
    const target = difference ?? panel;
    target.scrollIntoView({ block: difference ? "center" : "start" });
    target.focus({ preventScroll: true });
  };

  const buttons = new Map();
  for (const entry of document.querySelectorAll("[data-trial]")) {
    const number = Number(entry.closest("[data-task]").dataset.task);
    const button = make("button", entry.textContent, { type: "button", className: entry.className });
    button.title = entry.title;
    button.setAttribute("aria-label", `${entry.title}: ${entry.textContent}`);
    button.addEventListener("click", () => {
      opener = button;
      open(number, Number(entry.dataset.trial));
    });
    entry.replaceWith(button);
    buttons.set(`${number} ${entry.dataset.trial}`, button);
  }
  // The bars of agents lead to the same transcripts, for a pointer alone: keys have the table.
  for (const bar of document.querySelectorAll("[data-bar]")) {
    const button = buttons.get(bar.dataset.bar);
    if (!button) continue;
    bar.classList.add("opens");
    bar.addEventListener("click", () => button.click());
  }
  if (panel && !panel.hidden && packed.length === 1) open(0, 0);
})();
