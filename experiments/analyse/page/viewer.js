// Steps through an analysed game: a board (shogiground), the moves, the win rate, and the lines of each position.
await document.fonts.load('1rem "Shogi Notation"');
document.querySelector("header").hidden = false; // Chromium keeps the frames that it draws for kanji before their font is there
const told = JSON.parse(document.getElementById("game").textContent);
const japanese = navigator.language.startsWith("ja");
const words = japanese
  ? {
      start: "開始局面", lost: "損失", best: "最善", line: "候補", instead: "変化", turn: "盤面回転",
      blunder: "大悪手", mistake: "悪手", doubtful: "疑問手", slack: "緩手", mate: "詰み", declaration: "入玉宣言",
      "black wins": "▲の勝ち", "white wins": "△の勝ち", draw: "引き分け", unfinished: "終局せず",
    }
  : {
      start: "Start", lost: "lost", best: "best", line: "Line", instead: "Variation", turn: "Turn",
      blunder: "blunder", mistake: "mistake", doubtful: "doubtful", slack: "slack", mate: "mate",
      declaration: "declaration",
    };
const byId = (id) => document.getElementById(id);
const made = (name, text, classes = "") => {
  const element = document.createElement(name);
  element.textContent = text;
  element.className = classes;
  return element;
};

let ply = 0; // moves of the game that are on the board
let addressing; // a timer
let line = null; // of a line or variation: {steps, number, at}, `at` its steps that are on the board
const ground = Shogiground(
  {
    viewOnly: true,
    scaleDownPieces: false,
    coordinates: { files: "numeric", ranks: "japanese" },
    drawable: { enabled: false, visible: true },
    animation: { duration: 150 },
  },
  { board: byId("board"), hands: { top: byId("top"), bottom: byId("bottom") } },
);

const percent = (rate) => `${(100 * rate).toFixed(1)} %`;
const score = (found) => {
  if (found.line[0] === "win") return words.declaration; // no mate, though it wins as surely
  if (found.mate === null) return `${found.score > 0 ? "+" : ""}${found.score}`;
  return found.mate === 0 ? words.mate : `${words.mate} ${found.mate > 0 ? "+" : ""}${found.mate}`;
};

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
  ply = Math.max(0, Math.min(told.steps.length - 1, to));
  line = null;
  draw();
  clearTimeout(addressing); // browsers refuse addresses that change as often as the moves while a key is held
  addressing = setTimeout(() => history.replaceState(null, "", `#${ply}`), 200);
}

/** Go so many steps into a line of the position. */
function follow(steps, number, at) {
  line = at >= 0 ? { steps, number, at: Math.min(at, steps.length - 1) } : null;
  draw();
}

function draw() {
  const step = told.steps[ply];
  show(line ? line.steps[line.at] : step, line ? [] : step.lines);
  document.querySelectorAll("#moves tr").forEach((row, number) => row.classList.toggle("chosen", number === ply));
  const row = byId("moves").querySelectorAll("tr")[ply];
  byId("moves").scrollTop = row.offsetTop - byId("moves").clientHeight / 2;
  const here = document.querySelector("#graph .here");
  here.setAttribute("x1", ply);
  here.setAttribute("x2", ply);
  const said = byId("said");
  said.replaceChildren();
  if (step.mark) {
    const better = step.best ? `, ${words.best} ${step.best}` : "";
    said.append(made("p", `【${words[step.mark]}】 ${words.lost} ${percent(step.loss)}${better}`, "bad"));
  }
  step.comments.forEach((comment) => said.append(made("p", comment)));
  step.lines.forEach((one, rank) =>
    said.append(asLine(`${words.line} ${rank + 1}: ${score(one)} (${percent(one.win_rate)})`, one.steps, `l${rank}`)),
  );
  step.variations.forEach((steps, rank) => {
    said.append(asLine(words.instead, steps, `v${rank}`));
    if (line?.steps === steps) steps[line.at].comments.forEach((comment) => said.append(made("p", comment)));
  });
  document.documentElement.dataset.shown = `${ply}${line ? `-${line.number}-${line.at}` : ""}`;
}

/** A paragraph of the moves of a line, each a button. */
function asLine(head, steps, number) {
  const paragraph = made("p", "", "line");
  paragraph.append(made("b", `${head} `));
  steps.forEach((step, at) => {
    const chosen = line && line.number === number && line.at === at;
    const noted = step.comments?.length ? "*" : ""; // KIF's mark of a comment
    const button = made("button", step.name + noted, chosen ? "chosen" : "");
    button.onclick = () => {
      follow(steps, number, at);
      byId("said").querySelector("button.chosen").focus(); // the same button, made anew: Tab goes on from it
    };
    paragraph.append(button);
  });
  return paragraph;
}

/** A table row of the position after a move. */
function asRow(step, number) {
  const row = document.createElement("tr");
  row.append(made("td", number || ""), made("td", number ? step.name : words.start, step.mark ? "bad" : ""));
  row.append(made("td", step.time), made("td", step.lines.length ? score(step.lines[0]) : ""));
  row.append(made("td", step.lines.length ? percent(step.lines[0].win_rate) : ""), made("td", words[step.mark] ?? ""));
  row.onclick = () => go(number);
  return row;
}

/** Black's win rate over the moves, as far as they were searched. */
function drawGraph() {
  const graph = byId("graph");
  const rates = told.steps.map((step) => step.lines[0]?.win_rate).filter((rate) => rate !== undefined);
  const points = rates.map((rate, at) => `${at},${100 - 100 * rate}`).join(" ");
  const last = Math.max(rates.length - 1, 0);
  const put = (name, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => element.setAttribute(key, value));
    graph.append(element);
  };
  graph.setAttribute("viewBox", `0 0 ${Math.max(told.steps.length - 1, 1)} 100`);
  put("polygon", { class: "black", points: `0,100 ${points} ${last},100` });
  put("polygon", { class: "white", points: `0,0 ${points} ${last},0` });
  put("line", { class: "even", x1: 0, x2: told.steps.length, y1: 50, y2: 50 });
  put("polyline", { class: "rate", points });
  put("line", { class: "here", x1: 0, x2: 0, y1: 0, y2: 100 });
  graph.onclick = (event) => {
    const box = graph.getBoundingClientRect();
    go(Math.round(((event.clientX - box.left) / box.width) * (told.steps.length - 1)));
  };
}

const forward = () => (line ? follow(line.steps, line.number, line.at + 1) : go(ply + 1));
const back = () => (line ? follow(line.steps, line.number, line.at - 1) : go(ply - 1));
const actions = { first: () => go(0), back, forward, last: () => go(told.steps.length - 1) };
actions.turn = () => ground.toggleOrientation();
Object.entries(actions).forEach(([id, act]) => (byId(id).onclick = act));
byId("turn").textContent = words.turn;
byId("result").textContent = words[byId("result").textContent] ?? byId("result").textContent;
const keys = { ArrowLeft: back, ArrowRight: forward, Home: actions.first, End: actions.last, f: actions.turn };
document.addEventListener("keydown", (event) => {
  if (!keys[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  keys[event.key]();
});
window.addEventListener("hashchange", () => go(Number(location.hash.slice(1)) || 0));
byId("moves").append(document.createElement("table"));
told.steps.forEach((step, number) => byId("moves").firstChild.append(asRow(step, number)));
drawGraph();
go(Number(location.hash.slice(1)) || 0);
