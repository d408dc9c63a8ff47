SECTIONS.queries = (state, send, root) =>
  foldable(state, send, () => [
    factList(state),
    state.levels.length > 1 ? levels(state.levels) : null,
    state.slider
      ? slider(state.slider, send, sliderPosition(root, "s-slider"))
      : h("p", { class: "muted small" }, state.noSlider),
    h(
      "label",
      { class: "query-mask small", title: state.noQueryMask },
      h("input", {
        type: "checkbox",
        checked: state.queryMask && !state.noQueryMask,
        disabled: !!state.noQueryMask,
        "data-key": "query-mask",
        onchange: () => send("query-mask"),
      }),
      "Darken what was not asked for",
    ),
    state.noQueryMask ? h("p", { class: "muted small" }, state.noQueryMask) : null,
    state.trials.length > 1
      ? plot(state, send)
      : state.known
        ? h(
            "p",
            { class: "muted small" },
            "Move the slider: each run becomes a point of share against agreement.",
          )
        : null,
  ])

function factList({ facts }) {
  return h(
    "ul",
    { class: "query-facts small", "aria-label": "What was asked for" },
    facts.map(([text, value, title]) => h("li", { title }, h("span", {}, text), h("b", {}, value))),
  )
}

function levels(shares) {
  return h(
    "div",
    { class: "query-levels" },
    h(
      "ol",
      { "aria-label": "Agreement by level, from the root" },
      shares.map(([level, share]) =>
        h(
          "li",
          {
            title:
              `Level ${level} of the known tree: ` +
              `${(100 * share).toFixed(1)} % of its triplets`,
            "aria-label": `level ${level}: ${share.toFixed(3)}`,
          },
          h("i", {
            style: `height:${Math.max(1, 34 * share).toFixed(1)}px`,
            "aria-hidden": "true",
          }),
          h("span", { "aria-hidden": "true" }, shares.length < 11 || level % 5 === 0 ? level : ""),
        ),
      ),
    ),
    h("span", { class: "muted" }, "by level, from the root"),
  )
}

function slider({ steps, s, place, default: mark, shares, all }, send, held) {
  const words = k =>
    steps[k] >= all
      ? "All similarities are asked for."
      : `At each division ${steps[k].toLocaleString("en")} items are drawn. All other items are ` +
        `compared with them: about ${shares[k]} of all pairs.`
  const description = h("p", { class: "muted small" })
  const field = textSlider(
    {
      key: "s-slider",
      label: "Sampled, s",
      texts: steps.map(step => step.toLocaleString("en")),
      value: s.toLocaleString("en"),
      place,
      spoken: text => `s = ${text}`,
      ends: ["2 ln n", "all"],
      mark,
      held,
    },
    at => {
      description.textContent = words(at)
    },
    at => {
      clearTimeout(held.timer)
      held.timer = setTimeout(() => {
        held.timer = null
        send("s", { value: steps[at] })
      }, 200)
    },
  )
  description.textContent = words(held.at ?? place)
  return [field, description]
}

function plot({ trials }, send) {
  const share = v => (v === 0 ? "0" : `${+(100 * v).toPrecision(v < 0.1 ? 2 : 3)} %`)
  const lowest = Math.min(...trials.map(p => p.y))
  return tradeoffPlot(
    {
      points: trials,
      now: trials.find(p => p.now),
      right: Math.max(...trials.map(p => p.x)),
      low: Math.max(0, Math.floor(10 * lowest - 1e-9) / 10),
      high: 1,
      axes: ["share asked for", "agreement, mean of levels"],
      label: "Agreement against the share asked for, run by run",
      number: (v, up) => (up ? String(+v.toFixed(2)) : share(v)),
    },
    p => send("s", { value: p.s }),
  )
}
