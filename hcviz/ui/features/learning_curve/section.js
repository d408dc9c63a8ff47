const W = 260,
  H = 112,
  LEFT = 34,
  RIGHT = 6,
  TOP = 8,
  FOOT = 18

// A round number at or above `most`, and the number of equal steps up to it.
function scale(most) {
  const unit = 10 ** Math.floor(Math.log10(most))
  for (const [times, steps] of [
    [1, 2],
    [1.5, 3],
    [2, 2],
    [3, 3],
    [4, 2],
    [5, 5],
    [6, 3],
    [8, 4],
    [10, 2],
  ])
    if (times * unit >= most * 0.999) return [times * unit, steps]
}

SECTIONS.learning = state => {
  const { points, baselines } = state
  const last = Math.max(1, ...points.map(p => p[0]))
  const [top, steps] = scale(
    state.top ?? Math.max(1e-4, ...points.map(p => p[1]), ...baselines.map(b => b[1])),
  )
  const x = count => LEFT + ((W - LEFT - RIGHT) * count) / last
  const y = share => TOP + (H - TOP - FOOT) * (1 - share / top)
  const number = value => String(+value.toPrecision(2))
  const grid = Array.from({ length: steps + 1 }, (_, k) => (k * top) / steps)
  const every = Math.max(1, Math.ceil(last / 5))
  const counts = Array.from({ length: Math.floor(last / every) + 1 }, (_, k) => k * every)
  const across = v => `M${LEFT} ${y(v)}H${W - RIGHT}`
  const place = ([count, share]) => [x(count).toFixed(1), y(share).toFixed(1)]
  const gridLine = v =>
    `<path class="grid" d="${across(v)}"/>` +
    `<text x="${LEFT - 5}" y="${y(v)}" class="y">${number(v)}</text>`
  const dot = p => {
    const [cx, cy] = place(p)
    const title = `${counted(p[0], "answer")}: ${p[1].toFixed(4)}`
    return `<circle cx="${cx}" cy="${cy}" r="2.4"><title>${title}</title></circle>`
  }
  // The class of a baseline: the first is dashed, the second is dotted.
  const line = k => (k ? "baseline second" : "baseline")
  const picture = `<svg viewBox="0 0 ${W} ${H}" role="img">
    ${grid.map(gridLine).join("")}
    ${counts.map(v => `<text x="${x(v)}" y="${H - 4}" class="x">${v}</text>`).join("")}
    ${baselines.map(([, v], k) => `<path class="${line(k)}" d="${across(v)}"/>`).join("")}
    <path class="curve" d="M${points.map(p => place(p).join(" ")).join("L")}"/>
    ${points.map(dot).join("")}
  </svg>`
  const box = h("div", { class: "curve-box", html: picture })
  box.firstElementChild.setAttribute("aria-label", `${state.measure}. ${state.sentence}`)
  const shown = value => (value >= 0.01 || value === 0 ? value.toFixed(3) : value.toFixed(4))
  const row = (cls, text, value) =>
    h(
      "li",
      { class: cls },
      h("i", { "aria-hidden": "true" }),
      h("span", {}, text),
      h("b", {}, shown(value)),
    )
  return [
    h("h2", {}, "Learning curve"),
    h(
      "p",
      { class: "small measure", title: state.better },
      state.measure,
      h("span", { class: "muted" }, " against answers"),
    ),
    box,
    h(
      "ul",
      { class: "curve-key small" },
      row("curve", "this session", points[points.length - 1][1]),
      baselines.map(([text, value], k) => row(line(k), text, value)),
    ),
  ]
}
