const W = 260, H = 130, LEFT = 44, RIGHT = 12, TOP = 10, FOOT = 22, PACE = 250
let moved = false, last = 0, timer = null

SECTIONS.prices = (state, send) => foldable(state, send, () => state.said ? [h("p", { class: "quiet small" }, state.said)] : [
  slider(state, send),
  state.large ? h("p", { class: "quiet small" }, "The curve is drawn for up to 2,500 items.") : state.points.length > 1 ? plot(state, send) : null,
  state.waiting ? h("p", { class: "quiet small" }, state.waiting) : null,
  state.now ? h("p", { class: "quiet small", role: "status" }, `This tree, ${state.now.said}.`) : null,
])

function slider(state, send) {
  const shown = h("b", { class: "lam", "aria-hidden": "true" }, state.lam)
  // While it is dragged a run is started every quarter of a second at most; all of a drag is one step to undo.
  const go = node => {
    clearTimeout(timer); timer = null
    last = Date.now()
    send("slide", { step: +node.value, goingOn: moved })
    moved = true
  }
  const input = h("input", { type: "range", min: 0, max: state.steps.length - 1, step: 1, value: state.place, "data-key": "lam-slider", "aria-label": "Lambda",
    "aria-valuetext": `lambda ${state.lam}`,
    oninput: e => {
      const node = e.target
      shown.textContent = state.steps[+node.value]
      node.setAttribute("aria-valuetext", `lambda ${state.steps[+node.value]}`)
      if (timer === null) timer = setTimeout(() => go(node), Math.max(0, last + PACE - Date.now()))
    },
    onchange: e => { if (timer !== null) go(e.target); moved = false } })
  input.value = state.place
  return h("div", { class: "prices" }, h("label", {}, h("span", {}, "Lambda ", shown), input),
    h("div", { class: "ends small quiet", "aria-hidden": "true" }, h("span", {}, "geometry"), h("span", {}, "answers")))
}

function plot({ points, now, weight }, send) {
  const all = now ? [...points, now] : points
  const most = Math.max(...all.map(p => p.weight), weight * 0.02) , costs = all.map(p => p.cost)
  const low = Math.min(...costs), high = Math.max(...costs, low * 1.000001 + 1e-9), air = (high - low) * 0.08
  const x = v => LEFT + (W - LEFT - RIGHT) * v / most
  const y = v => TOP + (H - TOP - FOOT) * (1 - (v - low + air) / (high - low + 2 * air))
  const short = v => Math.abs(v) >= 1e6 ? `${+(v / 1e6).toPrecision(4)} M` : Math.abs(v) >= 1e4 ? `${+(v / 1e3).toPrecision(4)} k` : String(+v.toPrecision(4))
  const at = p => [x(p.weight), y(p.cost)]
  const take = p => send("point", { lam: +p.lam })
  return svg("svg", { class: "buys", viewBox: `0 0 ${W} ${H}`, role: "group", "aria-label": "Cost against the weight of violated answers, for each lambda" },
    [low, high].map(v => [svg("path", { class: "grid", d: `M${LEFT} ${y(v).toFixed(1)}H${W - RIGHT}` }), svg("text", { class: "y", x: LEFT - 5, y: y(v).toFixed(1) }, short(v))]),
    [0, most].map(v => svg("text", { class: "x", x: x(v), y: H - 8 }, short(v))),
    svg("text", { class: "x", x: (x(0) + x(most)) / 2, y: H - 8 }, "violated weight"), svg("text", { class: "axis", x: LEFT, y: 6 }, "cost"),
    svg("path", { class: "curve", d: pathOf(points, at) }),
    now ? svg("circle", { class: "now", cx: at(now)[0].toFixed(1), cy: at(now)[1].toFixed(1), r: 6.5 }) : null,
    points.map(p => svg("circle", { class: "point", cx: at(p)[0].toFixed(1), cy: at(p)[1].toFixed(1), r: 3.4, tabindex: 0, role: "button", "data-key": `lam-${p.lam}`, "aria-label": p.said,
      onclick: () => take(p), onkeydown: e => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); take(p) } } }, svg("title", {}, `${p.said}. Click to set lambda.`))))
}
