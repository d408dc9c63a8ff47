const NAMES = 130,
  LINES = 0.24,
  READABLE = 15,
  NARROWEST = 8.5,
  MOVED_NAMED = 60
const settings = { readable: false }

export const render = component("tanglegram", (state, send, root) => {
  whenResized(root, () => send("repaint"))
  if (!state.items)
    return h("p", { class: "muted" }, "There is no earlier tree of these items yet.")
  const n = state.items.length
  const width = Math.max(420, root.clientWidth - 24),
    tall = Math.max(120, root.clientHeight - 92)
  const row = settings.readable ? Math.max(READABLE, tall / n) : tall / n
  const height = row * n
  const named = row >= NARROWEST
  const some = !named && state.moved.length > 0 && state.moved.length <= MOVED_NAMED
  const longest = Math.max(
    ...(named ? state.names : state.moved.map(k => state.names[k])).map(name => name.length),
  )
  const names = named || some ? Math.min(NAMES, width * 0.16, 12 + 7.2 * longest) : 8
  const lines = width * LINES,
    tree = (width - lines - 2 * names) / 2
  const from = tree + names,
    to = from + lines
  const moved = new Set(state.moved),
    chosen = new Set(state.chosenItems)

  // Names of groups at their bars, on the side of the root; where there is no room, on the other.
  const groupNames = (drawn, x, toLeaves) => {
    const boxes = []
    return drawn.groups.map(([at, first, last, name]) => {
      const text = short(name, 24),
        wide = 6.4 * text.length + 4
      const bar = x(at, drawn.top),
        y = ((first + last) / 2) * row
      const rootX = x(drawn.top, drawn.top)
      const outward = Math.abs(bar - rootX) >= wide
      const anchor = outward === toLeaves > 0 ? "end" : "start"
      const left = anchor === "end" ? bar - wide : bar
      const clear = [y - 3, y + 10, y - 16].find(
        line =>
          line > 9 &&
          line < height - 1 &&
          !boxes.some(
            box =>
              box.at < left + wide && left < box.at + box.wide && Math.abs(box.line - line) < 12,
          ),
      )
      if (clear === undefined) return null
      boxes.push({ at: left, wide, line: clear })
      return svg(
        "text",
        {
          x: (bar + (anchor === "end" ? -4 : 4)).toFixed(1),
          y: clear.toFixed(1),
          "text-anchor": anchor,
        },
        text,
        svg("title", {}, `${name}: ${counted(last - first, "item")}`),
      )
    })
  }
  const side = (drawn, x, class_) =>
    svg(
      "g",
      { class: class_ },
      drawn.changed.map(([at, first, last]) =>
        svg("path", {
          class: "changed",
          d:
            `M${x(at, drawn.top).toFixed(1)} ${((first + 0.5) * row).toFixed(1)}` +
            `V${((last - 0.5) * row).toFixed(1)}`,
        }),
      ),
      svg("path", {
        d: pathOf(drawn.path, ([at, y]) => [x(at, drawn.top), y * row]),
        style: `stroke-width: ${Math.min(1.1, Math.max(0.2, row / 2)).toFixed(2)}`,
      }),
    )
  const kind = k => (moved.has(k) ? "moved" : "") + (chosen.has(state.items[k]) ? " chosen" : "")
  const line = k => {
    const y = (k + 0.5) * row,
      end = (state.to[k] + 0.5) * row,
      bend = lines * 0.4
    return svg(
      "path",
      {
        class: kind(k),
        d:
          `M${from} ${y.toFixed(1)}C${from + bend} ${y.toFixed(1)} ` +
          `${to - bend} ${end.toFixed(1)} ${to} ${end.toFixed(1)}`,
        onclick: () => send("pick", { id: state.items[k] }),
      },
      svg("title", {}, state.names[k]),
    )
  }
  const size = named ? Math.min(12.5, row * 0.92) : 11
  const name = (k, place, at, anchor) =>
    svg(
      "text",
      {
        class: kind(k),
        x: at,
        y: ((place + 0.5) * row).toFixed(1),
        "text-anchor": anchor,
        "font-size": size,
        onclick: () => send("pick", { id: state.items[k] }),
      },
      short(state.names[k], (names / size) * 1.85),
      svg("title", {}, state.names[k]),
    )
  // Names beside the lines: all names if the rows are high enough, else those of moved items
  // without overlaps.
  const apart = (steps, place) => {
    if (named) return steps
    if (!some) return []
    let last = -Infinity
    return steps
      .filter(k => moved.has(k))
      .sort((a, b) => place(a) - place(b))
      .filter(k => place(k) * row - last >= 11 && ((last = place(k) * row), true))
  }
  const fromLeft = (at, top) => 4 + (1 - at / top) * (tree - 10)
  const fromRight = (at, top) => width - fromLeft(at, top)
  // Lines of moved items are drawn last, on top.
  const steps = [...Array(n).keys()].sort((a, b) => moved.has(a) - moved.has(b))
  return [
    h(
      "div",
      { class: "toolbar" },
      h(
        "label",
        {},
        "Compare with",
        h(
          "select",
          {
            "data-key": "compare",
            "aria-label": "Compare with",
            onchange: e => send("compare", { value: e.target.value }),
          },
          options(state.choices, state.chosen),
        ),
      ),
      readableBox(settings, send),
      h(
        "p",
        { class: "muted small summary", role: "status", title: state.hint || null },
        state.sentence,
      ),
    ),
    h(
      "div",
      { class: "titles", style: `width:${width}px` },
      h("b", {}, state.heads[0]),
      h(
        "span",
        { class: "key" },
        h("i", { class: "moved" }),
        state.legend[0],
        h("i", { class: "changed" }),
        state.legend[1],
      ),
      h("b", {}, state.heads[1]),
    ),
    h(
      "div",
      {
        class: "page",
        "data-scroll": "tangle",
        tabindex: 0,
        role: "img",
        "aria-label": `${state.heads.join(" and ")}, side by side. ${state.sentence}`,
      },
      svg(
        "svg",
        { width, height, viewBox: `0 0 ${width} ${height}` },
        side(state.left, fromLeft, "tree"),
        side(state.right, fromRight, "tree"),
        svg("g", { class: "groups" }, groupNames(state.left, fromLeft, 1)),
        svg("g", { class: "groups" }, groupNames(state.right, fromRight, -1)),
        svg("g", { class: "lines" }, steps.map(line)),
        svg(
          "g",
          { class: "names" },
          apart(steps, k => k).map(k => name(k, k, from - 4, "end")),
          apart(steps, k => state.to[k]).map(k => name(k, state.to[k], to + 4, "start")),
        ),
      ),
    ),
  ]
})
