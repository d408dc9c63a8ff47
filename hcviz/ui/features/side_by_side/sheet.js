const STEPS = 60000,
  NARROWEST = 170,
  GAP = 18,
  NAMED = 8.5,
  READABLE = 14,
  WIDEST_ROW = 26,
  LETTER = 0.6
const settings = { readable: false, how: false }

// One number of the table; "–" where it is unknown.
const shownCost = x =>
  x === null ? "–" : Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en") : x.toPrecision(4)
const shownDistance = x => (x ? x.toFixed(3) : "0")
const shownTime = x => (x < 0.1 ? "< 0.1 s" : x < 10 ? `${x.toFixed(1)} s` : `${Math.round(x)} s`)
const shownCount = x => (x === null ? "–" : x.toLocaleString("en"))

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

// The size of the names beside a tree, 0 for none, and the width that they need.
function nameSize(state, row, width) {
  if (!state.names.length || row < NAMED) return [0, 0]
  const size = Math.min(12, row * 0.92)
  const longest = Math.max(...state.names.map(name => name.length))
  return [size, Math.min(0.48 * width, 12 + LETTER * size * longest)]
}

// A tree as SVG elements with their colours, so that a saved picture looks like the page.
function treeElements(column, state, width, row) {
  const height = row * state.items
  const [size, room] = nameSize(state, row, width)
  const ends = unpacked(column.lines, Uint16Array),
    colours = unpacked(column.colours, Int16Array)
  const wide = width - room - 3
  const x = k => (2 + (1 - ends[k] / STEPS) * (wide - 2)).toFixed(1),
    y = k => ((ends[k] / STEPS) * height).toFixed(1)
  const paths = new Map()
  colours.forEach((colour, k) => {
    const at = 4 * k
    const line = `M${x(at)} ${y(at + 1)}L${x(at + 2)} ${y(at + 3)}`
    paths.set(colour, (paths.get(colour) ?? "") + line)
  })
  const ink = code => (code < 0 ? state.ink.branch : state.palette[code % state.palette.length])
  const found = [...paths].map(([code, d]) =>
    svg("path", {
      d,
      fill: "none",
      stroke: ink(code),
      "stroke-width": Math.min(1.4, Math.max(0.35, row / 2.2)).toFixed(2),
      "stroke-linecap": "square",
    }),
  )
  if (!size) return found
  const order = unpacked(column.order, Int32Array),
    codes = unpacked(state.codes, Int16Array)
  order.forEach((item, k) =>
    found.push(
      svg(
        "text",
        {
          x: (wide + 5).toFixed(1),
          y: ((k + 0.5) * row).toFixed(1),
          "font-size": size.toFixed(1),
          "dominant-baseline": "central",
          fill: codes[item] < 0 ? state.ink.text : ink(codes[item]),
          "data-item": item,
        },
        short(state.names[item], Math.floor((room - 8) / (LETTER * size))),
        svg("title", {}, state.names[item]),
      ),
    ),
  )
  return found
}

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

function csvOf(state) {
  const quoted = text => `"${String(text).replaceAll('"', '""')}"`
  const head = "method,title,cost,distance_to_first,violated_answers,answers,queries,seconds"
  const rows = state.columns
    .filter(column => column.state === "done")
    .map(c =>
      [
        c.name,
        quoted(c.title),
        c.cost ?? "",
        c.distance,
        c.violated,
        state.answers,
        c.queries ?? "",
        c.seconds.toFixed(3),
      ].join(","),
    )
  return `${[head, ...rows].join("\n")}\n`
}

// All trees in one row, with their names and figures.
function pictureOf(state) {
  const done = state.columns.filter(column => column.state === "done")
  const each = 300,
    head = 30,
    foot = 42
  const row = Math.min(WIDEST_ROW, Math.max(READABLE, 420 / state.items))
  const named = state.items <= 150
  const tall = named ? row * state.items : 640
  const width = GAP + done.length * (each + GAP),
    height = GAP + head + tall + foot
  const text = (x, y, words, more = {}) =>
    svg("text", { x, y, fill: state.ink.text, "font-size": 12, ...more }, words)
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": "system-ui, 'Helvetica Neue', Arial, sans-serif",
    },
    svg("rect", { width, height, fill: state.ink.paper }),
    done.map((column, k) => {
      const x = GAP + k * (each + GAP)
      const words = [`cost ${shownCost(column.cost)}`, `distance ${shownDistance(column.distance)}`]
      if (state.answers) words.push(`${column.violated} of ${state.answers} answers violated`)
      const more = [shownTime(column.seconds)]
      if (column.queries !== null) more.unshift(`${shownCount(column.queries)} asked for`)
      return [
        text(x, GAP + 10, column.title, { "font-weight": 600, "font-size": 13 }),
        svg(
          "g",
          { transform: `translate(${x} ${GAP + head})` },
          treeElements(column, state, each, tall / state.items),
        ),
        text(x, GAP + head + tall + 16, words.join(" · "), { "font-size": 11 }),
        text(x, GAP + head + tall + 32, more.join(" · "), { "font-size": 11 }),
      ]
    }),
  )
}

function savePicture(state, format) {
  const picture = pictureOf(state)
  const source = new XMLSerializer().serializeToString(picture)
  const name = `${state.file}-side-by-side.${format}`
  if (format === "svg") {
    saveBlob(name, new Blob([source], { type: "image/svg+xml" }))
    return
  }
  const image = new Image()
  image.onload = () => {
    const canvas = h("canvas")
    canvas.width = 2 * picture.getAttribute("width")
    canvas.height = 2 * picture.getAttribute("height")
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
    canvas.toBlob(blob => saveBlob(name, blob), "image/png")
  }
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`
}

function toolbar(state, send) {
  const done = state.columns.some(column => column.state === "done")
  const busy = state.running || state.waiting
  const taken = new Set(state.columns.map(each => each.name))
  const status = state.running
    ? `Running: ${state.running}. ${state.left} to go.`
    : state.waiting
      ? "Waits until your own run has finished."
      : done
        ? ""
        : "The methods run on your data and answers, one after the other."
  return h(
    "div",
    { class: "toolbar" },
    busy
      ? h("button", { "data-key": "go", onclick: () => send("cancel") }, icon("stop"), "Stop")
      : h(
          "button",
          {
            class: "main",
            "data-key": "go",
            disabled: !state.left,
            onclick: () => send("run"),
          },
          icon("run"),
          state.left ? `Run ${counted(state.left, "method")}` : "All have run",
        ),
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
    h("span", { class: "muted small", role: "status" }, status),
    done
      ? h(
          "div",
          { class: "looks" },
          heightsSelect(state.heights, send),
          state.names.length
            ? h(
                "label",
                {},
                h("input", {
                  type: "checkbox",
                  "data-key": "readable",
                  checked: settings.readable,
                  onchange: e => {
                    settings.readable = e.target.checked
                    send("repaint")
                  },
                }),
                "Readable rows",
              )
            : null,
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
            text.classList.toggle("peek", text.dataset.item === item)
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
