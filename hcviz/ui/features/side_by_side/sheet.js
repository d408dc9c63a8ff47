const NARROWEST = 170
const settings = { readable: false, how: false }

// The columns of the table: title, tooltip, text of a method.
const FIGURES = [
  [
    "Cost",
    "Dasgupta's cost: the sum over pairs of their similarity times the size of their smallest " +
      "group. A low cost is good. – for data without similarities, or with too many.",
    c => shownCost(c.cost),
  ],
  [
    "Distance to the first",
    "Triplet distance: the share of the triplets of the first tree that this tree does not have.",
    c => shownDistance(c.distance),
  ],
  [
    "Violated answers",
    "How many of your answers the tree does not satisfy.",
    (c, state) => (state.answers ? `${c.violated} of ${state.answers}` : "–"),
  ],
  [
    "Similarities asked for",
    "How many similarities, or comparisons, the method asked for. – for a method that reads the " +
      "features or the answers directly.",
    c => shownCount(c.queries),
  ],
  [
    "Time",
    "From the start of the computation to its tree. The first run after the server has started " +
      "also loads the method's code.",
    c => shownTime(c.seconds),
  ],
]

// Marks of the selected items: a band over their rows in each tree.
function marks(live, root) {
  for (const group of root.querySelectorAll("g.marks")) {
    const { place, row, width } = group.hcPlaces
    group.replaceChildren(
      ...(live.chosen ?? [])
        .filter(item => item in place)
        .map(item =>
          svg("rect", {
            x: 0,
            width,
            y: (place[item] * row).toFixed(1),
            height: Math.max(1.5, row).toFixed(1),
          }),
        ),
    )
  }
}

function treePicture(column, state, width, row, send) {
  const height = row * state.items
  const order = column.order ? unpacked(column.order, Int32Array) : []
  const place = {}
  order.forEach((item, k) => {
    place[item] = k
  })
  const group = svg("g", { class: "marks" })
  group.hcPlaces = { place, row, width }
  return svg(
    "svg",
    {
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": `The tree of ${column.title}`,
      onclick: event => {
        const item = event.target.closest("[data-item]")
        if (item) send("pick", { id: Number(item.dataset.item) })
        else send("use", { value: column.name })
      },
    },
    group,
    treeElements(column, state, width, row),
  )
}

// What is below the name of a method: its tree, or how it works, or why there is no tree.
function columnBody(column, state, width, row, send) {
  if (column.state === "done") {
    const now = column.name === state.now
    return [
      h(
        "div",
        { class: "tree", title: `Click to show the tree of ${column.title} on the page` },
        treePicture(column, state, width, row, send),
      ),
      column.sentence ? h("p", { class: "note small" }, column.sentence) : null,
      h(
        "div",
        { class: "does" },
        textButton(
          `use-${column.name}`,
          now ? "Show" : "Use",
          () => send("use", { value: column.name }),
          now
            ? "This is the method of the page"
            : `Make ${column.title} the method of the page, and show its tree`,
        ),
        textButton(
          `compare-${column.name}`,
          "Compare",
          () => send("compare", { value: column.name }),
          `The tree of ${column.title} beside the page's tree, with lines between the items`,
        ),
      ),
    ]
  }
  if (column.state === "failed")
    return h("p", { class: "failed small", role: "alert" }, column.sentence)
  const status = { running: "Running…", drawing: "Measuring…" }[column.state]
  return [
    status ? h("p", { class: "status small" }, status) : null,
    h("p", { class: "how" }, column.how),
  ]
}

function columnHead(column, at, state, send) {
  const taken = new Set(state.columns.map(each => each.name))
  return h(
    "header",
    {},
    h(
      "select",
      {
        "data-key": `method-${at}`,
        "aria-label": `Method ${at + 1}`,
        title: column.title,
        onchange: e => send("choose", { at, value: e.target.value }),
      },
      options(
        state.methods.map(([name, title]) => [
          name,
          title,
          name !== column.name && taken.has(name),
        ]),
        column.name,
      ),
    ),
    h(
      "button",
      {
        class: "bare",
        "data-key": `remove-${at}`,
        title: `Remove ${column.title}`,
        "aria-label": `Remove ${column.title}`,
        onclick: () => send("choose", { at, value: "" }),
      },
      icon("close"),
    ),
  )
}

function figureTable(state) {
  const done = state.columns.filter(column => column.state === "done")
  if (!done.length) return null
  const costs = done.map(column => column.cost).filter(cost => cost !== null)
  const least = new Set(costs).size > 1 ? Math.min(...costs) : null
  return h(
    "div",
    { class: "scroll" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          FIGURES.map(([title, why]) => h("th", { scope: "col", title: why }, title)),
        ),
      ),
      h(
        "tbody",
        {},
        done.map(column =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, column.title),
            FIGURES.map(([title, , text]) =>
              h(
                "td",
                { class: title === "Cost" && column.cost === least ? "least" : "" },
                text(column, state),
              ),
            ),
          ),
        ),
      ),
    ),
  )
}

function toolbar(state, send) {
  const done = state.columns.some(column => column.state === "done")
  const taken = new Set(state.columns.map(each => each.name))
  return h(
    "div",
    { class: "toolbar" },
    runButton(state, send),
    state.columns.length < state.most
      ? h(
          "select",
          {
            "data-key": "add",
            "aria-label": "Add a method",
            onchange: e => send("choose", { at: state.columns.length, value: e.target.value }),
          },
          options(
            [["", "Add a method…"], ...state.methods.filter(([name]) => !taken.has(name))],
            "",
          ),
        )
      : null,
    runStatus(state, done ? "" : "The methods run on your data and answers, one after the other."),
    done
      ? h(
          "div",
          { class: "looks" },
          heightsSelect(state.heights, send),
          state.names.length ? readableBox(settings, send) : null,
          h(
            "span",
            { class: "segmented", role: "group", "aria-label": "Save" },
            textButton(
              "csv",
              "CSV",
              () =>
                saveBlob(
                  `${state.file}-side-by-side.csv`,
                  new Blob([csvOf(state)], { type: "text/csv" }),
                ),
              "Save the figures as a table",
            ),
            textButton("svg", "SVG", () => savePicture(state, "svg"), "Save the trees as SVG"),
            textButton("png", "PNG", () => savePicture(state, "png"), "Save the trees as PNG"),
          ),
        )
      : null,
  )
}

export const render = component(
  "side-by-side",
  (state, send, root) => {
    whenResized(root, () => send("repaint"))
    if (!state.methods) return h("p", { class: "muted" }, "No data yet.")
    const count = state.columns.length
    const wide = Math.max(NARROWEST, root.clientWidth - 40)
    let across = Math.max(1, Math.min(count, Math.floor((wide + GAP) / (NARROWEST + GAP))))
    if (count === 4 && across === 3) across = 2
    const width = Math.floor((wide - GAP * (across - 1)) / across)
    const free = root.clientHeight - 80 - (40 + 30 * count)
    const tall = Math.max(190, free / Math.ceil(count / across) - 88)
    const least = settings.readable && state.names.length ? READABLE : 0
    const row = Math.min(WIDEST_ROW, Math.max(least, tall / state.items))
    const done = state.columns.filter(column => column.state === "done")
    return h(
      "div",
      {
        class: "page",
        "data-scroll": "page",
        tabindex: 0,
        "aria-label": "Methods side by side",
        onmouseover: event => {
          const item = event.target.closest?.("[data-item]")?.dataset.item
          for (const text of root.querySelectorAll("[data-item]"))
            text.classList.toggle("pointed", text.dataset.item === item)
        },
      },
      toolbar(state, send),
      h(
        "div",
        { class: "columns", style: `grid-template-columns: repeat(${across}, ${width}px)` },
        state.columns.map((column, at) =>
          h(
            "article",
            { class: column.name === state.now ? "now" : "" },
            columnHead(column, at, state, send),
            columnBody(column, state, width, row, send),
          ),
        ),
      ),
      count ? null : h("p", { class: "muted" }, "Add a method to compare."),
      figureTable(state),
      done.length
        ? h(
            "details",
            {
              class: "explained",
              open: settings.how,
              ontoggle: e => {
                settings.how = e.target.open
              },
            },
            h("summary", { "data-key": "how" }, "How these methods work"),
            done.map(column => h("p", {}, h("b", {}, `${column.title}. `), column.how)),
          )
        : null,
    )
  },
  marks,
)
