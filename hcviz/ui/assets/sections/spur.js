const W = 260, H = 118, LEFT = 48, RIGHT = 10, TOP = 10, FOOT = 20

SECTIONS.spur = (state, send) => {
  const { points, best, shown } = state
  const [low, high] = [points[0][0], points[points.length - 1][0]]
  const least = Math.min(...points.map(p => p[1])), most = Math.max(...points.map(p => p[1]))
  const bottom = most - least < 1e-6 ? least - 0.05 : least, top = most - least < 1e-6 ? most + 0.05 : most
  const x = k => LEFT + (W - LEFT - RIGHT) * (high > low ? (k - low) / (high - low) : 0.5)
  const y = value => TOP + (H - TOP - FOOT) * (1 - (value - bottom) / (top - bottom))
  const every = Math.max(1, Math.ceil(points.length / 9))
  const box = h("div", { class: "spur-box", role: "group", "aria-label": `Theta by the number of clusters. ${state.said}` },
    svg("svg", { viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true" },
      [bottom, top].map(v => [svg("path", { class: "grid", d: `M${LEFT} ${y(v)}H${W - RIGHT}` }), svg("text", { class: "y", x: LEFT - 14, y: y(v) }, v.toFixed(2))]),
      points.filter((_, i) => i % every === 0).map(([k]) => svg("text", { class: "x", x: x(k), y: H - 4 }, String(k))),
      svg("path", { class: "curve", d: pathOf(points, ([k, v]) => [x(k), y(v)]) })),
    points.map(([k, value]) => h("button", { type: "button", "data-key": `k-${k}`, class: (k === shown ? "shown " : "") + (k === best ? "best" : ""), "aria-pressed": String(k === shown),
      style: `left:${100 * x(k) / W}%;top:${100 * y(value) / H}%`, "aria-label": `${counted(k, "cluster")}, theta ${value.toFixed(3)}`,
      title: `${counted(k, "cluster")}: theta ${value.toFixed(3)}${k === best ? ", the highest" : ""}. Click to take ${k}.`, onclick: () => send("k", { value: k }) }, h("i"))))
  return [
    h("h2", {}, "How many clusters"),
    h("p", { class: "small" }, state.said), box,
    h("p", { class: "spur-key small quiet" }, h("i", { class: "best" }), "highest theta", h("i", { class: "shown" }), "shown"),
    state.own ? h("button", { type: "button", class: "small", "data-key": "estimate", onclick: () => send("estimate") }, "Let the data choose again") : null,
  ]
}
