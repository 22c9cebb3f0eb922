// Step through an analysed game: a board (shogiground), the moves, the win rate, the bad moves, and the lines of each position.
await document.fonts.load('1rem "Shogi Notation"');
// Chromium keeps the empty frames that it draws for kanji before their font is loaded: show all texts only now.
document.querySelectorAll("header, main").forEach((part) => (part.hidden = false));
const { steps: positions, words } = JSON.parse(document.getElementById("game").textContent);
const byId = (id) => document.getElementById(id);
const made = (name, text, classes = "") => {
  const element = document.createElement(name);
  element.textContent = text;
  element.className = classes;
  return element;
};

let ply = 0; // number of moves of the game before the position on the board
let addressing; // a timer
let line = null; // the line or variation on the board: {steps, number, at}; `at` is the index of the step
const ground = Shogiground(
  {
    viewOnly: true,
    scaleDownPieces: false,
    coordinates: { files: "numeric", ranks: "japanese" },
    drawable: { enabled: false, visible: true },
    animation: { duration: 150, enabled: !matchMedia("(prefers-reduced-motion: reduce)").matches },
  },
  { board: byId("board"), hands: { top: byId("top"), bottom: byId("bottom") } },
);

const percent = (rate) => `${(100 * rate).toFixed(1)} %`;
const mistakes = positions.map((_, number) => number).filter((number) => positions[number].mark);

/** Put a step on the board, with arrows for the first moves of its lines. */
function show(step, lines) {
  const [board, turn, hands] = step.sfen.split(" ");
  const arrows = lines.filter((one) => one.steps.length).map((one, rank) => {
    const [from, to] = one.steps[0].squares;
    const orig = from.length === 2 ? from : to; // a drop is a ring
    return { orig, dest: to, brush: rank === 0 ? "first" : "other" };
  });
  ground.set({
    sfen: { board, hands },
    turnColor: turn === "b" ? "sente" : "gote",
    lastDests: step.squares?.filter((square) => square.length === 2),
    drawable: { autoShapes: arrows.reverse() },
  });
}

/** Go to a position of the game. */
function go(to) {
  ply = Math.max(0, Math.min(positions.length - 1, to));
  line = null;
  draw();
  clearTimeout(addressing); // browsers refuse addresses that change as often as the moves while a key is held
  addressing = setTimeout(() => history.replaceState(null, "", `#${ply}`), 200);
}

/** Show the position after step `at` of a line, or the position of the game if `at` is below 0. */
function follow(steps, number, at) {
  line = at >= 0 ? { steps, number, at: Math.min(at, steps.length - 1) } : null;
  draw();
}

function draw() {
  const step = positions[ply];
  show(line ? line.steps[line.at] : step, line ? [] : step.lines);
  document.querySelectorAll("#moves tr").forEach((row, number) => row.classList.toggle("chosen", number === ply));
  const row = byId("moves").querySelectorAll("tr")[ply];
  byId("moves").scrollTop = row.offsetTop - byId("moves").clientHeight / 2;
  const here = document.querySelector("#graph .here");
  here.setAttribute("x1", ply);
  here.setAttribute("x2", ply);
  const said = byId("said");
  said.replaceChildren();
  if (step.mark) said.append(asMistake(step));
  step.comments.forEach((comment) => said.append(made("p", comment)));
  step.lines.forEach((one, rank) =>
    said.append(asLine(`${words.line.replace("{number}", rank + 1)}: ${one.text} (${percent(one.win_rate)})`, one.steps, `l${rank}`)),
  );
  step.variations.forEach((steps, rank) => {
    said.append(asLine(words.variation, steps, `v${rank}`));
    if (line?.steps === steps) steps[line.at].comments.forEach((comment) => said.append(made("p", comment)));
  });
  document.querySelectorAll("#mistakes ol button").forEach((one) => one.classList.toggle("chosen", Number(one.dataset.ply) === ply));
  document.documentElement.dataset.shown = `${ply}${line ? `-${line.number}-${line.at}` : ""}`;
}

/** Return a paragraph on a bad move; its best move is a button that shows the best line instead of the move. */
function asMistake(step) {
  const paragraph = made("p", `【${step.mark_name}】 ${words.lost} ${percent(step.loss)}  `, "line bad");
  const steps = positions[ply - 1].lines[0]?.steps ?? [];
  if (step.best) {
    const button = made("button", `${words.best} ${step.best}`);
    button.id = "best";
    button.disabled = !steps.length; // a declaration has no line
    button.onclick = () => {
      go(ply - 1);
      follow(steps, "l0", 0);
    };
    paragraph.append(button);
  }
  if (step.compared) paragraph.append(made("small", ` ${step.compared}`));
  return paragraph;
}

/** Return a paragraph with the moves of a line; its head and each move are buttons. */
function asLine(head, steps, number) {
  const paragraph = made("p", "", "line");
  const first = made("button", head, "head");
  first.disabled = !steps.length;
  first.onclick = () => follow(steps, number, 0);
  paragraph.append(first, " ");
  steps.forEach((step, at) => {
    const chosen = line && line.number === number && line.at === at;
    const noted = step.comments.length ? "*" : ""; // KIF's mark of a comment
    const button = made("button", step.name + noted, chosen ? "chosen" : "");
    button.onclick = () => {
      follow(steps, number, at);
      byId("said").querySelector("button.chosen").focus(); // the button was made anew: keep the focus for Tab
    };
    paragraph.append(button);
  });
  return paragraph;
}

/** Return a table row for the position after a move. */
function asRow(step, number) {
  const row = document.createElement("tr");
  row.append(made("td", number || ""), made("td", number ? step.name : words.start, step.mark ? "bad" : ""));
  const [best] = step.lines;
  row.append(made("td", step.time), made("td", best ? best.text : ""), made("td", best ? percent(best.win_rate) : ""));
  row.append(made("td", step.mark_name, step.mark ? "bad" : ""));
  row.onclick = () => go(number);
  return row;
}

/** Fill the list of bad moves; each entry is a button. */
function listMistakes() {
  const list = document.querySelector("#mistakes ol");
  mistakes.forEach((number) => {
    const step = positions[number];
    const entry = document.createElement("li");
    const button = made("button", `${number} ${step.name} ${step.mark_name} −${percent(step.loss)}`);
    button.dataset.ply = number;
    button.onclick = () => go(number);
    entry.append(button);
    list.append(entry);
  });
  if (!mistakes.length) list.replaceWith(made("p", words.none));
  byId("next").disabled = !mistakes.length;
}

/** Draw black's win rate by move, as far as it was searched, and marks of the bad moves. */
function drawGraph() {
  const graph = byId("graph");
  const rates = positions.map((step) => step.lines[0]?.win_rate).filter((rate) => rate !== undefined);
  const points = rates.map((rate, at) => `${at},${100 - 100 * rate}`).join(" ");
  const last = Math.max(rates.length - 1, 0);
  const put = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    graph.append(element);
  };
  graph.setAttribute("viewBox", `0 0 ${Math.max(positions.length - 1, 1)} 100`);
  put("polygon", { class: "black", points: `0,100 ${points} ${last},100` });
  put("polygon", { class: "white", points: `0,0 ${points} ${last},0` });
  put("line", { class: "even", x1: 0, x2: positions.length - 1, y1: 50, y2: 50 });
  put("polyline", { class: "rate", points });
  mistakes.forEach((number) => {
    // A line of no length with round ends is a dot whatever the graph's proportions.
    const at = 100 - 100 * positions[number].lines[0].win_rate;
    const side = positions[number].name.startsWith("▲") ? "first" : "second";
    put("path", { class: `mark ${positions[number].mark} ${side}`, d: `M${number} ${at}h0` });
  });
  put("line", { class: "here", x1: 0, x2: 0, y1: 0, y2: 100 });
  graph.onclick = (event) => {
    const box = graph.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * (positions.length - 1)));
  };
}

const forward = () => (line ? follow(line.steps, line.number, line.at + 1) : go(ply + 1));
const back = () => (line ? follow(line.steps, line.number, line.at - 1) : go(ply - 1));
const actions = { first: () => go(0), back, forward, last: () => go(positions.length - 1) };
actions.turn = () => ground.toggleOrientation();
actions.next = () => mistakes.length && go(mistakes.find((number) => number > ply) ?? mistakes[0]);
Object.entries(actions).forEach(([id, act]) => (byId(id).onclick = act));
const keys = { ArrowLeft: back, ArrowRight: forward, Home: actions.first, End: actions.last, f: actions.turn, n: actions.next };
document.addEventListener("keydown", (event) => {
  if (!keys[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  keys[event.key]();
});
window.addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || 0));
byId("moves").append(document.createElement("table"));
positions.forEach((step, number) => byId("moves").firstChild.append(asRow(step, number)));
drawGraph();
listMistakes();
go(Number(location.hash.slice(1)) || 0);
