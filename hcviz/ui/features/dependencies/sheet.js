const WIDE = 190,
  GAP = 74,
  HEAD = 25,
  LINE = 21,
  FOOT = 6,
  APART = 14,
  KEYS = 4
const opened = new Set()

export const render = component("dependencies", (state, send, root) => {
  whenResized(root, () => send("repaint"))
  if (!state.boxes?.length)
    return h("p", { class: "muted" }, state.sentence || "There are no answers yet.")
  const boxes = state.boxes.map((box, k) => ({ ...box, k, all: opened.has(box.pair) }))
  for (const box of boxes) {
    box.keysShown = box.all ? box.keys : box.keys.slice(0, KEYS)
    box.height = HEAD + LINE * (box.keysShown.length + (box.keys.length > KEYS)) + FOOT
  }
  const joined = boxes.filter(box => box.layer >= 0),
    alone = boxes.filter(box => box.layer < 0)
  const layers = Math.max(-1, ...joined.map(box => box.layer)) + 1
  const columns = Array.from({ length: layers }, (_, layer) =>
    joined.filter(box => box.layer === layer).sort((a, b) => a.place - b.place),
  )
  const tall = column => column.reduce((sum, box) => sum + box.height + APART, -APART)
  const height = Math.max(0, ...columns.map(tall)),
    width = layers * (WIDE + GAP) - GAP
  columns.forEach((column, layer) => {
    let y = (height - tall(column)) / 2
    for (const box of column) {
      box.x = layer * (WIDE + GAP)
      box.y = y
      y += box.height + APART
    }
  })
  const pick = items => () => send("pick", { items })
  const drawn = (box, style) =>
    h(
      "div",
      {
        class: `box ${box.deciding ? "deciding" : ""}`,
        style,
        role: "group",
        "aria-label": `${box.pair} together`,
      },
      h(
        "button",
        {
          class: "pair",
          "data-key": `pair-${box.k}`,
          title: `${box.pair} together. Its measure is ${box.measure}. Click to select the pair.`,
          onclick: pick(box.items),
        },
        box.pair,
      ),
      box.keysShown.map(key =>
        h(
          "button",
          {
            class: `key ${key.chosen ? "chosen" : ""}`,
            "data-key": `key-${box.k}-${key.item}`,
            title: `${box.pair} together, apart from ${key.name}. Click to select the three.`,
            onclick: pick([...box.items, key.item]),
          },
          h("i", {}, "apart from"),
          h("span", {}, key.name),
        ),
      ),
      box.keys.length > KEYS
        ? h(
            "button",
            {
              class: "key more",
              "data-key": `more-${box.k}`,
              "aria-expanded": String(box.all),
              onclick: () => {
                box.all ? opened.delete(box.pair) : opened.add(box.pair)
                send("repaint")
              },
            },
            box.all ? "fewer" : `and ${box.keys.length - KEYS} more`,
          )
        : null,
    )
  const edge = ([from, to]) => {
    const a = boxes[from],
      b = boxes[to],
      x = a.x + WIDE,
      y = a.y + HEAD / 2 + 3,
      end = b.x - 7,
      at = b.y + HEAD / 2 + 3
    const bend = Math.max(30, (end - x) / 2)
    return svg(
      "path",
      {
        class: a.deciding && b.deciding ? "deciding" : "",
        d: `M${x} ${y}C${x + bend} ${y} ${end - bend} ${at} ${end} ${at}`,
        "marker-end": "url(#hc-arrow)",
      },
      svg("title", {}, `${a.pair} depends on ${b.pair}`),
    )
  }
  return [
    h(
      "div",
      { class: "toolbar" },
      h("p", { class: "small", role: "status" }, h("b", {}, state.sentence)),
      h("p", { class: "muted small" }, state.words),
    ),
    h(
      "div",
      {
        class: "page",
        "data-scroll": "digraph",
        tabindex: 0,
        "aria-label": `Which answers depend on which. ${state.sentence}`,
      },
      layers
        ? [
            h(
              "p",
              { class: "muted small" },
              "An arrow leads from a pair to a pair that it depends on, which is resolved first. ",
              "The pairs that decide the measure are marked.",
            ),
            h(
              "div",
              { class: "graph", style: `width:${width}px;height:${height}px` },
              svg(
                "svg",
                { width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
                svg(
                  "defs",
                  {},
                  svg(
                    "marker",
                    {
                      id: "hc-arrow",
                      viewBox: "0 0 8 8",
                      refX: 1,
                      refY: 4,
                      markerWidth: 7,
                      markerHeight: 7,
                      orient: "auto",
                    },
                    svg("path", { d: "M0 0L8 4L0 8z" }),
                  ),
                ),
                state.edges.map(edge),
              ),
              joined.map(box =>
                drawn(box, `left:${box.x}px;top:${box.y}px;width:${WIDE}px;height:${box.height}px`),
              ),
            ),
          ]
        : null,
      alone.length
        ? [
            layers ? h("h2", {}, `On their own (${alone.length.toLocaleString("en")})`) : null,
            h(
              "div",
              { class: "unconnected" },
              alone.map(box => drawn(box, "")),
            ),
          ]
        : null,
    ),
  ]
})
