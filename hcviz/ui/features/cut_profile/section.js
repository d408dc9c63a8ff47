const W = 260,
  H = 116,
  LEFT = 38,
  RIGHT = 8,
  TOP = 8,
  FOOT = 20

SECTIONS.profile = (state, send) =>
  foldable(state, send, () =>
    state.sentence
      ? [h("p", { class: "muted small" }, state.sentence)]
      : [
          plot(state),
          h(
            "ul",
            { class: "keys small" },
            h(
              "li",
              {},
              h("i", { class: "best", "aria-hidden": "true" }),
              state.facts[0][0].toLowerCase(),
            ),
            state.own
              ? h("li", {}, h("i", { class: "tree-cut", "aria-hidden": "true" }), "the tree's cut")
              : null,
          ),
          h(
            "dl",
            { class: "numbers" },
            state.facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
          ),
          h("p", { class: "muted small", role: "status" }, state.words),
        ],
  )

function plot({ curve, best, own, size, third, words }) {
  const values = [...curve.map(p => p[1]), best[1], ...(own ? [own[1]] : [])].sort((a, b) => a - b)
  // Single items at the ends may be far above the rest, where the curve is about to be read.
  const low = values[0],
    high = Math.max(
      values[Math.min(values.length - 1, Math.floor(values.length * 0.97))],
      own ? own[1] : low,
      low + 1e-12,
    )
  const air = (high - low) * 0.08
  const x = items => LEFT + ((W - LEFT - RIGHT) * items) / size
  const y = ratio =>
    TOP + (H - TOP - FOOT) * (1 - Math.min(1.02, (ratio - low + air) / (high - low + 2 * air)))
  const digits = v => String(+v.toPrecision(3))
  return svg(
    "svg",
    {
      class: "cuts",
      viewBox: `0 0 ${W} ${H}`,
      role: "img",
      "aria-label": `Mean similarity across each cut of the sweep. ${words}`,
    },
    third
      ? svg("rect", {
          class: "third",
          x: x(size / 3),
          y: TOP,
          width: x(size / 3) - LEFT,
          height: H - TOP - FOOT,
        })
      : null,
    [low, (low + high) / 2, high].map(v => [
      svg("path", { class: "grid", d: `M${LEFT} ${y(v).toFixed(1)}H${W - RIGHT}` }),
      svg("text", { class: "y", x: LEFT - 5, y: y(v).toFixed(1) }, digits(v)),
    ]),
    [0, Math.round(size / 2), size].map(v =>
      svg(
        "text",
        { class: "x", "text-anchor": v === size ? "end" : "middle", x: x(v), y: H - 5 },
        v.toLocaleString("en"),
      ),
    ),
    svg("path", { class: "curve", d: pathOf(curve, ([items, ratio]) => [x(items), y(ratio)]) }),
    curve.length < 40
      ? curve.map(([items, ratio]) =>
          svg("circle", { class: "dot", cx: x(items).toFixed(1), cy: y(ratio).toFixed(1), r: 1.6 }),
        )
      : null,
    own
      ? svg(
          "path",
          { class: "tree-cut", d: `M${x(own[0])} ${y(own[1]) - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5z` },
          svg("title", {}, `The tree: ${own[0]} | ${size - own[0]}, ${digits(own[1])}`),
        )
      : null,
    svg(
      "circle",
      { class: "best", cx: x(best[0]), cy: y(best[1]), r: 3.6 },
      svg("title", {}, `Sweep: ${best[0]} | ${size - best[0]}, ${digits(best[1])}`),
    ),
  )
}
