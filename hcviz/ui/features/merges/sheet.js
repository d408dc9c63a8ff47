// The tree so far on the left, and the distances between its clusters on the right: each row ends
// with the name of its cluster, and a column is below the name of its cluster.
const GAP = 24,
  NAMES = 170
const REPAIRED =
  "The tree was repaired after its last merge, so its merges cannot be shown. " +
  "Set the parameter Constraints to “allow or forbid merges”."

function treeSoFar(state, width, row) {
  const n = state.names.length,
    long = Math.max(...state.names.map(name => name.length)),
    font = Math.max(9, Math.min(20, row * 0.5))
  const names = Math.min(NAMES, 14 + font * 0.56 * long)
  const left = 14,
    lines = Math.max(40, width - names - left),
    foot = 52
  const x = height => left + (1 - height / state.top) * lines
  const y = at => 8 + (at + 0.5) * row
  const last = state.brackets.length - 1
  const path = ([low, y0, high, y1, top]) => `M${x(low)} ${y(y0)}H${x(top)}V${y(y1)}H${x(high)}`
  const top = state.brackets.length ? state.brackets[last][4] : 0
  return svg(
    "svg",
    {
      width,
      height: 8 + n * row + foot,
      role: "img",
      "aria-label": `The tree after ${counted(state.done, "merge")}`,
    },
    state.names.map((_, k) => svg("circle", { class: "leaf", cx: x(0), cy: y(k), r: 2.5 })),
    state.brackets.map((each, k) =>
      svg("path", { class: k === last && state.mark ? "branch last" : "branch", d: path(each) }),
    ),
    state.names.map((name, k) =>
      svg(
        "text",
        { class: "name", x: x(0) + 8, y: y(k), style: `font-size: ${font}px` },
        short(name, Math.floor((NAMES - 14) / (font * 0.5))),
        svg("title", {}, name),
      ),
    ),
    svg("path", { class: "axis", d: `M${left} ${8 + n * row + 8}H${left + lines}` }),
    svg("text", { class: "tick", x: x(0), y: 8 + n * row + 24, "text-anchor": "end" }, "0"),
    top > 0
      ? svg(
          "text",
          { class: "tick last", x: x(top), y: 8 + n * row + 24, "text-anchor": "middle" },
          state.height,
        )
      : null,
    svg(
      "text",
      { class: "tick", x: left + lines / 2, y: 8 + n * row + 38, "text-anchor": "middle" },
      state.axis,
    ),
  )
}

function distanceTable(state, width, row) {
  const k = state.clusters.length
  if (!k) return h("p", { class: "muted done" }, "All clusters are merged.")
  const long = Math.max(...state.clusters.map(name => name.length))
  const font = Math.max(8, Math.min(20, row * 0.42))
  const names = Math.min(NAMES, 14 + font * 0.58 * long)
  const side = Math.max(8, Math.min(row * 1.45, (width - names) / Math.max(1, k)))
  const whole = Math.min(width, side * k + 14 + font * 0.58 * long)
  const values = state.cells.flat().map(([value]) => value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const near = value => (high > low ? (high - value) / (high - low) : 1)
  // A row is beside its cluster in the tree.
  const top = r => 8 + state.rows[r] * row
  const isMarked = (r, c) => state.mark && state.mark[0] === r && state.mark[1] === c
  return svg(
    "svg",
    {
      class: "table",
      width: whole,
      height: 8 + state.names.length * row + 8,
      role: "img",
      "aria-label": `Distances between ${counted(k, "cluster")}`,
    },
    state.cells.map((cells, r) => [
      cells.map(([value, text], c) => {
        const name = `${state.clusters[r]} – ${state.clusters[c]}: ${text || value.toPrecision(3)}`
        return svg(
          "g",
          {},
          svg("rect", {
            class: "cell",
            x: c * side + 1,
            y: top(r) + 1,
            width: side - 2,
            height: row - 2,
            style: `--v: ${near(value).toFixed(3)}`,
          }),
          svg("title", {}, name),
          text
            ? svg(
                "text",
                {
                  class: isMarked(r, c) ? "number marked" : "number",
                  x: (c + 0.5) * side,
                  y: top(r) + row / 2,
                  style: `font-size: ${Math.min(font, side * 0.3)}px`,
                },
                text,
              )
            : null,
        )
      }),
      svg(
        "text",
        {
          class: state.mark?.includes(r) ? "name marked" : "name",
          x: r * side + 6,
          y: top(r) + row / 2,
          style: `font-size: ${font}px`,
        },
        short(state.clusters[r], Math.floor((whole - r * side - 10) / (font * 0.54))),
        svg("title", {}, state.clusters[r]),
      ),
    ]),
    state.mark
      ? svg("rect", {
          class: "mark",
          x: state.mark[1] * side + 1,
          y: top(state.mark[0]) + 1,
          width: side - 2,
          height: row - 2,
        })
      : null,
  )
}

export const render = component("merges", (state, send, root) => {
  whenResized(root, () => send("repaint"))
  if (!state.names)
    return h(
      "p",
      { class: "muted page" },
      state.waiting === false ? REPAIRED : "Computing the tree…",
    )
  const n = state.names.length
  const width = Math.max(320, root.clientWidth - 2 * GAP)
  const room = Math.max(160, root.clientHeight - (state.playing ? 92 : 132))
  const row = Math.max(n > 20 ? 12 : 20, Math.min(56, (room - 56) / n))
  const tree = Math.max(220, Math.min(620, width * 0.46))
  const go = (key, text, to, disabled) =>
    h("button", { "data-key": key, disabled, onclick: () => send("go", { to }) }, text)
  return h(
    "div",
    { class: "page", "data-scroll": "merges", tabindex: 0, "aria-label": "Merges" },
    state.playing
      ? null
      : h(
          "div",
          { class: "bar" },
          go("m-start", "Start", 0, !state.done),
          go("m-back", "Back", state.done - 1, !state.done),
          go("m-next", "Next merge", state.done + 1, state.done === state.all),
          go("m-all", "All", state.all, state.done === state.all),
        ),
    h(
      "p",
      { class: "sentence", role: "status" },
      state.sentence || `${state.done} of ${counted(state.all, "merge")} done.`,
    ),
    h(
      "div",
      { class: "both" },
      treeSoFar(state, tree, row),
      distanceTable(state, width - tree - GAP, row),
    ),
  )
})
