const PACE = 250

SECTIONS.prices = (state, send, root) =>
  foldable(state, send, () =>
    state.sentence
      ? [h("p", { class: "muted small" }, state.sentence)]
      : [
          slider(state, send, sliderPosition(root, "lam-slider")),
          state.large
            ? h("p", { class: "muted small" }, "The curve is drawn for up to 2,500 items.")
            : state.points.length > 1
              ? plot(state, send)
              : null,
          state.waiting ? h("p", { class: "muted small" }, state.waiting) : null,
          state.now
            ? h("p", { class: "muted small", role: "status" }, `This tree, ${state.now.sentence}.`)
            : null,
        ],
  )

function slider(state, send, held) {
  // While the slider moves, a run starts every quarter of a second at most. A whole drag is one
  // step of undo, and so is a key that is held down.
  held.last ??= 0
  const go = () => {
    held.timer = null
    held.last = performance.now()
    send("slide", { step: held.to, dragging: !!held.dragging })
    held.dragging = true
  }
  return textSlider(
    {
      key: "lam-slider",
      label: "Lambda",
      texts: state.steps,
      value: state.lam,
      place: state.place,
      spoken: text => `lambda ${text}`,
      ends: ["geometry", "answers"],
      held,
    },
    at => {
      held.to = at
      clearTimeout(held.rest)
      held.timer ??= setTimeout(go, Math.max(0, held.last + PACE - performance.now()))
    },
    () => {
      held.rest = setTimeout(() => {
        held.dragging = false
      }, PACE + 50)
    },
  )
}

function plot({ points, now, weight }, send) {
  const as = p => ({
    ...p,
    x: p.weight,
    y: p.cost,
    key: `lam-${p.lam}`,
    does: "Click to set lambda.",
  })
  const all = (now ? [...points, now] : points).map(as),
    costs = all.map(p => p.y)
  const low = Math.min(...costs),
    high = Math.max(...costs, low * 1.000001 + 1e-9)
  const number = v =>
    Math.abs(v) >= 1e6
      ? `${+(v / 1e6).toPrecision(4)} M`
      : Math.abs(v) >= 1e4
        ? `${+(v / 1e3).toPrecision(4)} k`
        : String(+v.toPrecision(4))
  return tradeoffPlot(
    {
      points: points.map(as),
      now: now && as(now),
      right: Math.max(...all.map(p => p.x), weight * 0.02),
      low,
      high,
      air: (high - low) * 0.08,
      axes: ["violated weight", "cost"],
      label: "Cost against the weight of violated answers, for each lambda",
      number,
    },
    p => send("point", { lam: +p.lam }),
  )
}
