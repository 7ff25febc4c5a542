// The reasons for one answer: as text, as a drawing, and as a table.

import { breakable, el, entityNode, pairNode, percent, svg } from "./dom.js";

const FONT = 12.5;
const LANE = 46; // height of one path, without a second line of its relations
const TWIG = 40; // height of one neighbour
const NARROW = 480; // px; narrower drawings break texts into more lines
const EDGE = 12; // from the side to the dots
const PATHS = 6;
const NEIGHBOURS = 5; // neighbours drawn per end; the table has all of them

/** The reasons for the answer `explanation.head`–`tail`. */
export function explanationNode(explanation, relation) {
  return el(
    "div",
    { class: "explanation", "data-explanation": "" },
    el(
      "div",
      { class: "for-against" },
      reasons("For", explanation.text, "There is no particular evidence for it."),
      reasons("Against", explanation.against, "There is no evidence against it."),
    ),
    drawing(explanation, relation),
    el("details", {}, el("summary", {}, "The drawing as a table"), tables(explanation)),
    sources(explanation.sources ?? []),
  );
}

function reasons(title, lines = [], none) {
  return el(
    "div",
    {},
    el("h4", {}, title),
    lines.length
      ? el(
          "ul",
          {},
          lines.map((line) => el("li", {}, line)),
        )
      : el("p", { class: "quiet" }, none),
  );
}

// ---- tables: the drawing as text

const stepText = ({ label, inverse }) => breakable(inverse ? `${label} (backwards)` : label);

function tables({ paths = [], attention = [], resembles }) {
  const pathRows = paths.map(({ steps, nodes, supports, of }) => [
    el(
      "span",
      {},
      steps.flatMap((step, index) => [entityNode(nodes[index]), " — ", ...stepText(step), " — "]),
      entityNode(nodes.at(-1)),
    ),
    `${supports} of ${of}`,
  ]);
  const lookRows = attention.map(({ of, label, inverse, neighbour, weight }) => [
    entityNode(of),
    stepText({ label, inverse }),
    entityNode(neighbour),
    percent(weight),
  ]);
  return el(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": "Tables" },
    table("Paths that join the pair", ["Path", "Examples that have it"], pathRows),
    resembles
      ? el(
          "p",
          {},
          "The example most like it: ",
          pairNode(resembles.head, resembles.tail),
          `, at distance ${resembles.distance.toFixed(2)}.`,
        )
      : null,
    table("Neighbours of that example that RANA attended to", ["Entity", "Relation", "Neighbour", "Attention"], lookRows),
  );
}

function table(caption, heads, rows) {
  if (!rows.length) return el("p", { class: "quiet" }, `${caption}: none.`);
  return el(
    "table",
    {},
    el("caption", {}, caption),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        heads.map((head) => el("th", { scope: "col" }, head)),
      ),
    ),
    el(
      "tbody",
      {},
      rows.map((row) =>
        el(
          "tr",
          {},
          row.map((cell) => el("td", {}, ...[cell].flat())),
        ),
      ),
    ),
  );
}

function sources(list) {
  if (!list.length) return null;
  return el(
    "details",
    {},
    el("summary", {}, "Where the score comes from"),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "group", "aria-label": "Evidence" },
      table(
        "Evidence",
        ["Source", "Score", "What it says"],
        list.map(({ evidence, score, text }) => [evidence, score.toFixed(2), text ?? ""]),
      ),
    ),
  );
}

// ---- the drawing
//
// Entities are dots, not boxes, to leave room for text. The drawing has the
// width of its container and the font size of the page, also on a phone.

function drawing(explanation, relation) {
  const figure = el("figure", { class: "drawing" });
  let drawn = 0;
  new ResizeObserver(() => {
    const width = Math.floor(figure.clientWidth);
    if (width < 100 || width === drawn) return;
    drawn = width;
    figure.replaceChildren(draw(explanation, relation, width));
  }).observe(figure);
  // Draw at once; the observer runs later.
  figure.append(draw(explanation, relation, 640));
  return figure;
}

function draw({ head, tail, paths = [], resembles, attention = [] }, relation, width) {
  const left = EDGE;
  const right = width - EDGE;
  const marks = [];
  const laneHeight = LANE + (width < NARROW ? 14 : 0);
  const first = laneHeight - 16; // from the pair down to its first path
  let y = 36;
  const pair = { x1: left, x2: right, y };
  const shown = paths.slice(0, PATHS);
  shown.forEach((path, index) => marks.push(lane(path, pair, y + first + index * laneHeight, width)));
  if (!shown.length)
    marks.push(
      line(`M${left},${y}H${right}`, "none"),
      words(width / 2, y + 18, "there is no path between them", width - 40, "caption"),
    );
  y += shown.length ? first + (shown.length - 1) * laneHeight + 34 : 36;
  if (paths.length > PATHS) {
    marks.push(words(width / 2, y + 8, `and ${paths.length - PATHS} more paths`, width, "caption"));
    y += 18;
  }
  if (resembles) {
    const below = { x1: left, x2: right, y: y + 62 };
    // First, so that it is below the paths.
    marks.unshift(line(`M${left},${pair.y}V${below.y}`, "same"), line(`M${right},${pair.y}V${below.y}`, "same"));
    marks.push(words(width / 2, y + 22, "most like the example", width - 60, "caption"));
    marks.push(
      line(`M${left},${below.y}H${right}`, "like"),
      words(width / 2, below.y - 7, relation, width * 0.34, "relation"),
    );
    marks.push(words(width / 2, below.y + 17, `distance ${resembles.distance.toFixed(2)}`, width / 2, "caption"));
    y = below.y + twigs(marks, attention, below, width);
    marks.push(ends(resembles.head, resembles.tail, below, width, "example"));
  }
  marks.push(ends(head, tail, pair, width, "main")); // last, so that it is above the lines
  return svg(
    "svg",
    {
      role: "img",
      width,
      height: y + 8,
      viewBox: `0 0 ${width} ${y + 8}`,
      "aria-label": `Drawing of the paths between ${head.label} and ${tail.label}, and of the example they resemble. The table below has the same content.`,
    },
    marks,
  );
}

/** The two entities of a pair: dots at both sides, labels above them. */
function ends(head, tail, { x1, x2, y }, width, kind) {
  const room = width / 2 - 20;
  return svg(
    "g",
    { class: kind },
    dot(x1, y, kind),
    dot(x2, y, kind),
    words(x1 - 6, y - 14, head.label, room, "node", "start"),
    words(x2 + 6, y - 14, tail.label, room, "node", "end"),
  );
}

/** One path: from the head down to its lane and up to the tail. */
function lane({ steps, nodes, supports, of }, { x1, x2, y }, laneY, width) {
  const bend = 26;
  const stops = [x1 + bend, ...(steps.length > 1 ? [(x1 + x2) / 2] : []), x2 - bend];
  const caption = `${supports} of ${of} examples`;
  const middle = steps.length > 1 ? nodes[1] : null;
  return svg(
    "g",
    { class: "path" },
    line(
      `M${x1},${y}C${x1},${laneY} ${x1},${laneY} ${x1 + bend},${laneY}H${x2 - bend}C${x2},${laneY} ${x2},${laneY} ${x2},${y}`,
      "step",
    ),
    steps
      .map((step, index) => {
        const [from, to] = [stops[index], stops[index + 1]];
        const lines = wrap(step.label, to - from - 6);
        return [
          arrow((from + to) / 2, laneY, step.inverse),
          lines.map((text, at) =>
            words(
              (from + to) / 2,
              laneY - 8 - 14 * (lines.length - 1 - at),
              text,
              to - from - 6,
              "relation",
              "middle",
              step.relation,
            ),
          ),
        ].flat();
      })
      .flat(),
    middle ? dot((x1 + x2) / 2, laneY, "middle") : null,
    words(
      (x1 + x2) / 2,
      laneY + 17,
      middle ? `${shorten(middle.label, width - 190)} · ${caption}` : caption,
      width - 60,
      "caption",
    ),
  );
}

/** Neighbours that RANA attended to, as twigs below both ends. Thicker lines mean more attention. */
function twigs(marks, attention, { x1, x2, y }, width) {
  const most = Math.max(...attention.map(({ weight }) => weight), 1e-9);
  let height = 24;
  let above = 0; // in a narrow drawing the tail's twigs are below the head's
  for (const end of ["head", "tail"]) {
    const [x, sign, anchor] = end === "head" ? [x1, 1, "start"] : [x2, -1, "end"];
    const looks = attention.filter((look) => look.end === end).slice(0, NEIGHBOURS);
    looks.forEach((look, index) => {
      const twigY = y + 44 + (above + index) * TWIG;
      const tip = x + sign * 24;
      const room = width < NARROW ? width - 100 : width / 2 - 52;
      const thick = line(`M${x},${y}C${x},${twigY} ${x},${twigY} ${tip},${twigY}`, "look");
      thick.style.strokeWidth = `${(1 + (8 * look.weight) / most).toFixed(1)}px`;
      marks.push(
        thick,
        dot(tip, twigY, "neighbour"),
        words(tip + sign * 10, twigY - 4, (look.inverse ? "← " : "→ ") + look.label, room, "relation", anchor),
        words(
          tip + sign * 10,
          twigY + 12,
          `${shorten(look.neighbour.label, room - 40)} ${percent(look.weight)}`,
          room,
          "caption",
          anchor,
        ),
      );
      height = Math.max(height, 44 + (above + index) * TWIG + 20);
    });
    if (width < NARROW) above = looks.length;
  }
  return height;
}

const line = (d, kind) => svg("path", { d, class: `line ${kind}` });
const dot = (cx, cy, kind) =>
  svg("circle", { cx, cy, r: kind === "main" ? 6 : kind === "neighbour" ? 3.5 : 5, class: `dot ${kind}` });

/** An arrow in the direction of the fact, which may differ from that of the path. */
function arrow(x, y, back) {
  const tip = back ? -6 : 6;
  return svg("path", { d: `M${x - tip},${y - 4.5}L${x + tip},${y}L${x - tip},${y + 4.5}Z`, class: "arrow-head" });
}

/** Text cut to a width, with the whole text in a tooltip. */
function words(x, y, text, room, kind, anchor = "middle", whole = text) {
  const cut = shorten(text, room, kind === "node" ? 600 : 400);
  return svg(
    "text",
    { x, y, class: `words ${kind}`, "text-anchor": anchor },
    cut === whole ? null : svg("title", {}, whole),
    cut,
  );
}

/** Splits a text into at most two lines, where names of relations may break. */
function wrap(text, room) {
  if (shorten(text, room) === text) return [text];
  const pieces = text.split(/(?<=[_/. :-])/);
  let head = "";
  while (pieces.length > 1 && shorten(head + pieces[0], room) === head + pieces[0]) head += pieces.shift();
  return head ? [head, pieces.join("")] : [text];
}

const pen = document.createElement("canvas").getContext("2d");

function shorten(text, room, weight = 400) {
  pen.font = `${weight} ${weight > 400 ? FONT + 1 : FONT}px system-ui, sans-serif`;
  if (pen.measureText(text).width <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && pen.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}
