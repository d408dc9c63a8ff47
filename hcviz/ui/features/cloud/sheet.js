const FAN = 6,
  NAMES = 150,
  READABLE = 15,
  NARROWEST = 6,
  PAD = 4
// Trees that are drawn between two frames.
const AT_ONCE = 16
// Largest height of a canvas, which browsers limit.
const TALLEST = 12000
const settings = { readable: false, consensus: true }

export const render = component(
  "cloud",
  (state, send, root) => {
    whenResized(root, () => send("repaint"))
    root.hcState = state
    root.hcDrawing = (root.hcDrawing ?? 0) + 1 // stops an older drawing in progress
    if (!state.items) return h("p", { class: "muted empty", role: "status" }, state.sentence ?? "")
    const n = state.items.length
    const width = Math.max(360, root.clientWidth - 24),
      tall = Math.max(120, root.clientHeight - 76)
    const row = Math.min(settings.readable ? Math.max(READABLE, tall / n) : tall / n, TALLEST / n)
    const named = row >= NARROWEST,
      size = named ? Math.min(12.5, Math.max(6.5, row * 0.92)) : 0
    const longest = Math.max(...state.names.map(name => name.length))
    const names = named ? Math.min(NAMES, width * 0.25, 14 + 0.6 * size * longest) : 10
    const tree = width - names - PAD,
      height = row * n
    const canvas = h("canvas", {
      role: "img",
      "aria-label": state.sentence,
      style: `width:${width}px;height:${height}px`,
    })
    requestAnimationFrame(() => draw(canvas, state, root, { width, height, row, tree }))
    const onkeydown = event => {
      const all = [...root.querySelectorAll(".names text")],
        here = all.indexOf(root.getRootNode().activeElement)
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
      if (here < 0 || !(step || event.key === "Enter" || event.key === " ")) return
      if (step) all[here + step]?.focus()
      else send("take", { items: [state.items[here]] })
      event.preventDefault()
      event.stopPropagation()
    }
    const check = (key, text) =>
      h(
        "label",
        {},
        h("input", {
          type: "checkbox",
          "data-key": key,
          checked: settings[key],
          onchange: e => {
            settings[key] = e.target.checked
            send("repaint")
          },
        }),
        text,
      )
    return [
      h(
        "div",
        { class: "toolbar" },
        heightsSelect(state.heights, send),
        check("consensus", "Consensus on top"),
        check("readable", "Readable rows"),
      ),
      h("p", { class: "muted small summary", role: "status" }, state.sentence),
      h(
        "div",
        {
          class: "page",
          "data-scroll": "cloud",
          role: "group",
          "aria-label": "Names of the items. Arrow keys go from name to name, Enter selects.",
          onkeydown,
        },
        h("div", { class: "spacer", style: `width:${width - 2}px;height:${height}px` }),
        canvas,
        svg(
          "svg",
          { class: "names", width, height, "font-size": size },
          named
            ? state.names.map((name, k) =>
                svg(
                  "text",
                  {
                    x: PAD + tree + 5,
                    y: ((k + 0.5) * row).toFixed(1),
                    role: "button",
                    tabindex: k ? -1 : 0,
                    "aria-label": name,
                    onclick: () => send("take", { items: [state.items[k]] }),
                  },
                  short(name, (names / size) * 1.85),
                  svg("title", {}, name),
                ),
              )
            : null,
        ),
      ),
    ]
  },
  (live, root) => {
    const chosen = new Set(live.selection ?? []),
      { items } = root.hcState
    for (const [k, name] of root.querySelectorAll(".names text").entries())
      name.classList.toggle("chosen", chosen.has(items[k]))
  },
)

// One stroke for each tree, so that lines of the same tree do not darken each other.
function draw(canvas, state, root, { width, height, row, tree }) {
  const mine = root.hcDrawing,
    dense = devicePixelRatio || 1
  canvas.width = Math.round(width * dense)
  canvas.height = Math.round(height * dense)
  const pen = canvas.getContext("2d"),
    colour = name => getComputedStyle(root).getPropertyValue(name).trim()
  pen.scale(dense, dense)
  pen.lineJoin = "round"
  const n = state.items.length,
    right = PAD + tree
  const rows = unpacked(state.rows, Uint16Array),
    parents = unpacked(state.parents, Uint16Array)
  const across = unpacked(state.across, Uint16Array),
    down = unpacked(state.down, Uint16Array)
  const x = at => right - (at / state.fine) * tree,
    y = at => (at / state.fine) * height
  const many = state.nodes.length - 1 // the last tree is the consensus
  // Branches of a consensus node with many children are not drawn: they would hide the trees, and
  // show only that there is no majority.
  const one = (first, inner, nodes, most = Infinity) => {
    const below = new Uint16Array(nodes)
    if (most < nodes) for (let v = 0; v < nodes - 1; v++) below[parents[first + v]]++
    pen.beginPath()
    for (let v = 0; v < nodes - 1; v++) {
      if (below[parents[first + v]] > most) continue
      const p = inner + parents[first + v] - n
      if (v < n) pen.moveTo(right, (rows[v] + 0.5) * row)
      else pen.moveTo(x(across[inner + v - n]), y(down[inner + v - n]))
      pen.lineTo(x(across[p]), y(down[p]))
    }
    pen.stroke()
  }
  let tree_ = 0,
    first = 0,
    inner = 0
  const some = () => {
    if (root.hcDrawing !== mine || !canvas.isConnected) return
    pen.strokeStyle = colour("--accent")
    pen.lineWidth = row < 3 ? 0.7 : 1
    pen.globalAlpha = Math.min(0.6, Math.max(0.04, 8 / many))
    for (const end = Math.min(many, tree_ + AT_ONCE); tree_ < end; tree_++) {
      one(first, inner, state.nodes[tree_])
      first += state.nodes[tree_]
      inner += state.nodes[tree_] - n
    }
    if (tree_ < many) {
      requestAnimationFrame(some)
      return
    }
    if (settings.consensus) {
      pen.globalAlpha = 0.9
      pen.strokeStyle = colour("--ink")
      pen.lineWidth = row < 3 ? 0.8 : 1.3
      one(first, inner, state.nodes[many], FAN)
    }
    canvas.dataset.drawn = String(many)
  }
  some()
}
