const NAMES = 150,
  READABLE = 15,
  NARROWEST = 6,
  TALL = 13,
  PAD = 8,
  DENSE = 2.5
const settings = { readable: false }

export const render = component(
  "consensus",
  (state, send, root) => {
    whenResized(root, () => send("repaint"))
    root.hcState = state
    if (!state.items) return h("p", { class: "muted empty", role: "status" }, state.sentence ?? "")
    const n = state.items.length
    const width = Math.max(360, root.clientWidth - 24),
      tall = Math.max(120, root.clientHeight - 76 - PAD)
    const row = settings.readable ? Math.max(READABLE, tall / n) : tall / n
    const named = row >= NARROWEST,
      size = named ? Math.min(12.5, Math.max(6.5, row * 0.92)) : 0
    const longest = Math.max(...state.names.map(name => name.length))
    const names = named ? Math.min(NAMES, width * 0.25, 14 + 0.6 * size * longest) : 10
    const dense = row < DENSE // branches to items would hide the clades above them
    const left = 30,
      tree = width - names - left
    const x = at => left + (1 - at / state.top) * tree,
      y = place => (PAD + place * row).toFixed(1),
      px = (at, place) => `${x(at).toFixed(1)} ${y(place)}`

    const take = items => send("take", { items })
    const members = c => state.items.slice(c.rows[0], c.rows[1] + 1)
    const groups = new Map(Object.entries(state.groups).map(([k, name]) => [state.clades[k], name]))
    const words = c => {
      const {
        rows: [first, last],
        percent,
      } = c
      const some = state.names.slice(first, Math.min(last, first + 3) + 1).join(", ")
      const more = last - first > 3 ? " …" : ""
      const name = groups.has(c) ? `${groups.get(c)}: ` : ""
      return `${name}${last - first + 1} items: ${some}${more}. In ${percent} % of the trees.`
    }
    // The stem and the bar of a clade. The area that reacts to a click is wider than the lines.
    const lines = c =>
      `M${px(c.at[1], c.y[0])}H${x(c.at[0]).toFixed(1)}M${px(c.at[0], c.y[1])}V${y(c.y[2])}`
    const clade = (c, k) =>
      svg(
        "path",
        {
          class: "clade",
          "data-key": `clade-${c.rows.join("-")}`,
          d: lines(c),
          role: "button",
          tabindex: k ? -1 : 0,
          "aria-label": words(c),
          onclick: () => take(members(c)),
        },
        svg("title", {}, words(c)),
      )
    const onkeydown = event => {
      const all = [...root.querySelectorAll(".clade")],
        here = all.indexOf(root.getRootNode().activeElement)
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key]
      if (here < 0 || !(step || event.key === "Enter" || event.key === " ")) return
      if (step) all[here + step]?.focus()
      else take(members(state.clades[here]))
      event.preventDefault()
      event.stopPropagation()
    }
    // Names and supports are written on the stems, or right of the bar if a stem is too short.
    // Named clades come first, then larger ones.
    const written = []
    const support = c => {
      const name = groups.get(c)
      const text = name ? `${short(name, 22)} ${c.percent}` : String(c.percent)
      const wide = (name ? 6.2 : 6) * text.length + 2,
        roomy = x(c.at[0]) - x(c.at[1]) >= wide + 2
      const at = roomy ? x(c.at[0]) - 3 : x(c.at[0]) + 3,
        line = PAD + c.y[0] * row - 2.5
      const box = [roomy ? at - wide : at, line - 9]
      if (
        (c.rows[1] - c.rows[0] + 1) * row < TALL ||
        at + 8 > left + tree ||
        written.some(
          ([a, b, other]) =>
            a < box[0] + Math.max(wide, 20) &&
            box[0] < a + Math.max(other, 20) &&
            Math.abs(b - box[1]) < 10,
        )
      )
        return null
      written.push([...box, wide])
      return svg(
        "text",
        {
          class: name ? "group" : null,
          x: at.toFixed(1),
          y: line.toFixed(1),
          "text-anchor": roomy ? "end" : "start",
        },
        text,
      )
    }
    const largest = [...state.clades].sort(
      (a, b) => groups.has(b) - groups.has(a) || b.rows[1] - b.rows[0] - (a.rows[1] - a.rows[0]),
    )
    const ys = unpacked(state.y, Float32Array)
    const points = Array.from(unpacked(state.x, Float32Array), (at, k) =>
      Number.isNaN(at) ? null : [at, ys[k]],
    )
    const kind = ([value, title, hint]) =>
      h(
        "button",
        {
          "data-key": `kind-${value}`,
          class: state.kind === value ? "on" : "",
          "aria-pressed": String(state.kind === value),
          title: hint || "The branches that more than a share of the trees have",
          onclick: () => send("kind", { value }),
        },
        title,
      )
    const share = h("output", {}, `${state.majority} %`)
    return [
      h(
        "div",
        { class: "toolbar" },
        h(
          "div",
          { class: "segmented", role: "group", "aria-label": "Which tree" },
          state.kinds.map(kind),
        ),
        state.kind === "consensus"
          ? h(
              "label",
              { title: "A branch is shown if more than this share of the trees have it" },
              "In more than",
              h("input", {
                type: "range",
                min: state.bounds[0],
                max: state.bounds[1],
                step: 5,
                value: state.majority,
                "data-key": "majority",
                "aria-label": "Least share of the trees, per cent",
                oninput: e => {
                  share.textContent = `${e.target.value} %`
                },
                onchange: e => send("majority", { value: e.target.value }),
              }),
              share,
            )
          : null,
        heightsSelect(state.heights, send),
        readableBox(settings, send),
      ),
      h("p", { class: "muted small summary", role: "status" }, state.sentence),
      h(
        "div",
        {
          class: "page",
          "data-scroll": "consensus",
          role: "group",
          "aria-label": "The tree. Arrow keys go from branch to branch, Enter selects.",
          onkeydown,
        },
        svg(
          "svg",
          { width, height: PAD + n * row, viewBox: `0 0 ${width} ${PAD + n * row}` },
          svg("path", {
            class: dense ? "branches pale" : "branches",
            d: pathOf(points, ([at, place]) => [x(at), PAD + place * row]),
          }),
          dense ? svg("path", { class: "branches", d: state.clades.map(lines).join("") }) : null,
          svg("g", { class: "clades" }, state.clades.map(clade)),
          svg("g", { class: "supports" }, largest.map(support)),
          named
            ? svg(
                "g",
                { class: "names", "font-size": size },
                state.names.map((name, k) =>
                  svg(
                    "text",
                    { x: left + tree + 5, y: y(k + 0.5), onclick: () => take([state.items[k]]) },
                    short(name, (names / size) * 1.85),
                    svg("title", {}, name),
                  ),
                ),
              )
            : null,
        ),
      ),
    ]
  },
  (live, root) => {
    const chosen = new Set(live.selection ?? []),
      { items, clades } = root.hcState
    for (const [k, name] of root.querySelectorAll(".names text").entries())
      name.classList.toggle("chosen", chosen.has(items[k]))
    for (const [k, node] of root.querySelectorAll(".clade").entries()) {
      const [first, last] = clades[k].rows
      node.classList.toggle(
        "chosen",
        last - first < chosen.size && items.slice(first, last + 1).every(item => chosen.has(item)),
      )
    }
  },
)
