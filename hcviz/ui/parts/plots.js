// Shared by sections: a slider over texts, a plot of runs, and the renderers of views.

// The position to which a person moved a slider, kept across repaints: `at` until the state has it,
// and `timer` while it was not sent yet.
function sliderPosition(root, key) {
  root.hcSliders ??= {}
  return (root.hcSliders[key] ??= { at: null, timer: null })
}

// A slider over `texts`. `value` is the present text, at the nearest `place`; it need not be one of
// `texts`. `spoken(text)` is the text for screen readers. `ends` are written below the two ends,
// and `mark` ([place, text]) below one place. `moved(place)` is called while the slider is dragged,
// `left(place)` when it is released. A key that is held down calls it at every step. After a
// repaint the slider stays at the position of `held`, so that the next step begins there.
function textSlider({ key, label, texts, value, place, spoken, ends, mark, held }, moved, left) {
  if (held.at !== null && (texts[held.at] === value || held.at >= texts.length)) held.at = null
  const now = held.at ?? place
  const shown = h(
    "b",
    { class: "chosen", "aria-hidden": "true" },
    held.at === null ? value : texts[now],
  )
  const most = texts.length - 1
  const input = h("input", {
    type: "range",
    min: 0,
    max: most,
    step: 1,
    value: now,
    "data-key": key,
    "aria-label": label,
    "aria-valuetext": spoken(held.at === null ? value : texts[now]),
    oninput: e => {
      held.at = +e.target.value
      shown.textContent = texts[held.at]
      e.target.setAttribute("aria-valuetext", spoken(texts[held.at]))
      moved(held.at)
    },
    onchange: e => left(+e.target.value),
    // Ctrl+Z undoes a position that was not sent yet; the page undoes one that was sent.
    onkeydown: e => {
      if (
        held.at === null ||
        e.shiftKey ||
        !(e.ctrlKey || e.metaKey) ||
        e.key.toLowerCase() !== "z"
      )
        return
      held.at = null
      input.value = place
      shown.textContent = value
      input.setAttribute("aria-valuetext", spoken(value))
      moved(place)
      if (held.timer) {
        clearTimeout(held.timer)
        held.timer = null
        e.preventDefault()
        e.stopPropagation()
      }
    },
    // Forget a position that the server did not accept.
    onblur: e => {
      const root = e.target.getRootNode()
      setTimeout(() => {
        if (root.activeElement?.dataset.key !== key) held.at = null
      }, 0)
    },
  })
  input.value = now
  return h(
    "div",
    { class: "slider" },
    h("label", {}, h("span", {}, `${label} `, shown), input),
    // The text of an end is left out if the mark would cover it.
    h(
      "div",
      { class: "ends small muted", "aria-hidden": "true" },
      h("span", {}, mark && mark[0] < 0.21 * most ? "" : ends[0]),
      mark
        ? h(
            "span",
            {
              class: "default",
              style: `left:calc(8px + ${(mark[0] / most).toFixed(4)} * (100% - 16px))`,
            },
            mark[1],
          )
        : null,
      h("span", {}, mark && mark[0] > 0.85 * most ? "" : ends[1]),
    ),
  )
}

// A plot of `points` {x, y, key, sentence, does}: `sentence` describes a point, `does` what a click
// does ("" for nothing). The point `now` has a ring. The x axis goes from 0 to `right`, the y axis
// from `low` to `high`; `axes` names both.
function tradeoffPlot({ points, now, right, low, high, air = 0, axes, label, number }, take) {
  const W = 260,
    H = 130,
    LEFT = 44,
    RIGHT = 12,
    TOP = 10,
    FOOT = 22
  const x = v => LEFT + ((W - LEFT - RIGHT) * v) / right
  const y = v => TOP + (H - TOP - FOOT) * (1 - (v - low + air) / (high - low + 2 * air))
  const at = p => [x(p.x), y(p.y)]
  return svg(
    "svg",
    { class: "tradeoff", viewBox: `0 0 ${W} ${H}`, role: "group", "aria-label": label },
    [low, high].map(v => [
      svg("path", { class: "grid", d: `M${LEFT} ${y(v).toFixed(1)}H${W - RIGHT}` }),
      svg("text", { class: "y", x: LEFT - 5, y: y(v).toFixed(1) }, number(v, 1)),
    ]),
    [0, right].map(v => svg("text", { class: "x", x: x(v), y: H - 8 }, number(v, 0))),
    svg("text", { class: "x", x: (x(0) + x(right)) / 2, y: H - 8 }, axes[0]),
    svg("text", { class: "axis", x: LEFT, y: 6 }, axes[1]),
    svg("path", { class: "curve", d: pathOf(points, at) }),
    now
      ? svg("circle", {
          class: "current",
          cx: at(now)[0].toFixed(1),
          cy: at(now)[1].toFixed(1),
          r: 6.5,
        })
      : null,
    points.map(p =>
      svg(
        "circle",
        {
          class: p.does ? "point" : "point static",
          cx: at(p)[0].toFixed(1),
          cy: at(p)[1].toFixed(1),
          r: 3.4,
          tabindex: 0,
          role: p.does ? "button" : "img",
          "data-key": p.key,
          "aria-label": p.sentence,
          onclick: () => p.does && take(p),
          onkeydown: e => {
            if (p.does && (e.key === "Enter" || e.key === " ")) {
              e.preventDefault()
              e.stopPropagation()
              take(p)
            }
          },
        },
        svg("title", {}, `${p.sentence}.${p.does ? ` ${p.does}` : ""}`),
      ),
    ),
  )
}

// --------------------------------------------------------- one renderer for each type of view

const VIEWS = {}

// A line through `points`, [x, y] or null. `point(x, y)` returns the properties of a button on a
// point.
VIEWS.series = ({ points, label, x: xName, y: yName, point }) => {
  const W = 260,
    H = 118,
    LEFT = 48,
    RIGHT = 10,
    TOP = 10,
    FOOT = 20
  const known = points.filter(p => p !== null)
  const [low, high] = [Math.min(...known.map(p => p[0])), Math.max(...known.map(p => p[0]))]
  const least = Math.min(...known.map(p => p[1])),
    most = Math.max(...known.map(p => p[1]))
  const flat = most - least <= 1e-6 * Math.abs(most)
  const air = 0.05 * (Math.abs(most) || 1),
    bottom = flat ? least - air : least,
    top = flat ? most + air : most
  const x = k => LEFT + (W - LEFT - RIGHT) * (high > low ? (k - low) / (high - low) : 0.5)
  const y = value => TOP + (H - TOP - FOOT) * (1 - (value - bottom) / (top - bottom))
  const every = Math.max(1, Math.ceil(known.length / (point ? 9 : 4)))
  const text = v => (Number.isInteger(v) ? String(v) : String(+v.toPrecision(3)))
  return h(
    "div",
    { class: "series-plot", role: point ? "group" : "img", "aria-label": label },
    svg(
      "svg",
      { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" },
      [bottom, top].map(v => [
        svg("path", { class: "grid", d: `M${LEFT} ${y(v)}H${W - RIGHT}` }),
        svg("text", { class: "y", x: LEFT - 14, y: y(v) }, point ? v.toFixed(2) : text(v)),
      ]),
      known
        .filter((_, i) => i % every === 0)
        .map(([k]) => svg("text", { class: "x", x: x(k), y: H - 4 }, text(k))),
      svg("path", { class: "curve", d: pathOf(points, ([k, v]) => [x(k), y(v)]) }),
    ),
    point
      ? known.map(([k, value]) =>
          h(
            "button",
            {
              style: `left:${(100 * x(k)) / W}%;top:${(100 * y(value)) / H}%`,
              ...point(k, value),
            },
            h("i"),
          ),
        )
      : null,
    xName || yName
      ? h("p", { class: "muted small" }, [yName, xName].filter(Boolean).join(" by "))
      : null,
  )
}

VIEWS.matrix = ({ image, rows, cols, low, high, label }) => [
  h("img", { src: image, alt: `${label}: ${rows} rows, ${cols} columns` }),
  h(
    "p",
    { class: "muted small" },
    `${counted(rows, "row")}, ${counted(cols, "column")}; from ${low} (light) to ${high} (dark)`,
  ),
]

const PLANE = 240,
  RIM = 16
const inPlane = ([x, y]) => [RIM + (PLANE - 2 * RIM) * x, RIM + (PLANE - 2 * RIM) * (1 - y)]

VIEWS.graph = ({ names, at, edges, directed, label }) => {
  const places = at.map(inPlane)
  const edge = ([a, b]) => {
    const [[x, y], [u, v]] = [places[a], places[b]]
    const length = Math.hypot(u - x, v - y) || 1,
      [dx, dy] = [(u - x) / length, (v - y) / length]
    const [tx, ty] = [u - 4 * dx, v - 4 * dy]
    return [
      svg("path", {
        class: "edge",
        d: `M${x.toFixed(1)} ${y.toFixed(1)}L${u.toFixed(1)} ${v.toFixed(1)}`,
      }),
      directed
        ? svg("path", {
            class: "arrow",
            d:
              `M${tx} ${ty}L${tx - 6 * dx - 3 * dy} ${ty - 6 * dy + 3 * dx}` +
              `L${tx - 6 * dx + 3 * dy} ${ty - 6 * dy - 3 * dx}Z`,
          })
        : null,
    ]
  }
  return svg(
    "svg",
    {
      class: "view-plane",
      viewBox: `0 0 ${PLANE} ${PLANE}`,
      role: "img",
      "aria-label": `${label}: ${counted(names.length, "node")}, ${counted(edges.length, "edge")}`,
    },
    edges.map(edge),
    places.map(([x, y], i) =>
      svg(
        "circle",
        { class: "node", cx: x.toFixed(1), cy: y.toFixed(1), r: 3.2 },
        svg("title", {}, names[i]),
      ),
    ),
    names.length <= 30
      ? places.map(([x, y], i) =>
          svg("text", { x: x.toFixed(1), y: (y - 6).toFixed(1) }, short(names[i], 14)),
        )
      : null,
  )
}

VIEWS.points = ({ points, label }, send) =>
  svg(
    "svg",
    { class: "view-plane", viewBox: `0 0 ${PLANE} ${PLANE}`, role: "group", "aria-label": label },
    points.map(({ id, at, name, chosen }) => {
      const [x, y] = inPlane(at)
      return svg(
        "circle",
        {
          class: chosen ? "item chosen" : "item",
          cx: x.toFixed(1),
          cy: y.toFixed(1),
          r: 3.2,
          tabindex: points.length > 100 ? null : 0,
          role: "button",
          "data-key": `view-item-${id}`,
          "aria-label": name,
          onclick: () => send("item", { id }),
          onkeydown: e => {
            if (e.key === "Enter" || e.key === " ") {
              e.preventDefault()
              e.stopPropagation()
              send("item", { id })
            }
          },
        },
        svg("title", {}, name),
      )
    }),
  )

VIEWS.mask = ({ on }, send) =>
  h(
    "label",
    { class: "query-mask small" },
    h("input", {
      type: "checkbox",
      checked: on,
      "data-key": "view-mask",
      onchange: () => send("mask"),
    }),
    "Darken what was not queried",
  )

VIEWS.sentence = ({ sentence }) => h("p", { class: "muted small" }, sentence)
