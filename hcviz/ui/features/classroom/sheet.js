// The invitation, the students, the agreement of each two, and the majority's tree.
const settings = { large: false, chosen: new Set() }
const ROW = 14,
  NAMED = 400

const qrCode = ({ path, size }, address) =>
  svg(
    "svg",
    {
      class: "qr",
      viewBox: `-4 -4 ${size + 8} ${size + 8}`,
      role: "img",
      "aria-label": `QR code of ${address}`,
      "shape-rendering": "crispEdges",
    },
    svg("rect", { x: -4, y: -4, width: size + 8, height: size + 8, fill: "#fff" }),
    svg("path", { d: path, fill: "#000" }),
  )

function invitation(state, send) {
  return h(
    "section",
    { class: settings.large ? "invitation large" : "invitation", "aria-label": "Invitation" },
    qrCode(state.qr, state.address),
    h(
      "div",
      {},
      h("p", { class: "muted small" }, "Students open"),
      h("p", { class: "address" }, state.address.replace("http://", "")),
      h("p", { class: "muted small" }, state.code ? "and type the code" : "and type the password"),
      state.code ? h("p", { class: "code" }, state.code) : null,
      h("p", { class: "count", role: "status" }, state.sentence),
    ),
    textButton(
      "large",
      settings.large ? "Smaller" : "Larger",
      () => {
        settings.large = !settings.large
        send("repaint")
      },
      "How large the address and its QR code are",
    ),
  )
}

function studentList(state, send) {
  const free = state.students.filter(each => each.new).map(each => each.number)
  for (const number of settings.chosen) if (!free.includes(number)) settings.chosen.delete(number)
  const choose = numbers => {
    settings.chosen = new Set(numbers)
    send("repaint")
  }
  const answers = state.students
    .filter(each => settings.chosen.has(each.number))
    .reduce((sum, each) => sum + each.new, 0)
  const row = each =>
    h(
      "tr",
      { class: each.here ? "" : "away" },
      h(
        "td",
        {},
        h("input", {
          type: "checkbox",
          "data-key": `s-${each.number}`,
          "aria-label": each.name,
          checked: settings.chosen.has(each.number),
          disabled: !each.new,
          onchange: event =>
            choose(
              event.target.checked
                ? [...settings.chosen, each.number]
                : [...settings.chosen].filter(number => number !== each.number),
            ),
        }),
      ),
      h("th", { scope: "row", title: each.name }, short(each.name, 26)),
      h("td", { class: "muted" }, each.here ? "" : "away"),
      h("td", { class: "number" }, String(each.answers)),
      h(
        "td",
        { class: "number", title: each.elsewhere ? "The answers are about other items" : null },
        each.elsewhere ? "other data" : each.new ? String(each.new) : "",
      ),
      h("td", { class: "number" }, each.share === null ? "–" : `${each.share} %`),
    )
  return h(
    "section",
    { "aria-label": "Students" },
    h(
      "div",
      { class: "toolbar" },
      h("h2", {}, "Students"),
      h(
        "button",
        {
          class: "main",
          "data-key": "merge",
          disabled: !answers,
          title: "Their answers become answers of your session, each with its author",
          onclick: () => send("merge", { students: [...settings.chosen] }),
        },
        answers ? `Merge ${counted(answers, "answer")}` : "Merge",
      ),
    ),
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h(
            "td",
            {},
            h("input", {
              type: "checkbox",
              "data-key": "all",
              "aria-label": "All students",
              disabled: !free.length,
              checked: free.length > 0 && free.every(number => settings.chosen.has(number)),
              onchange: event => choose(event.target.checked ? free : []),
            }),
          ),
          h("th", { scope: "col", colspan: 2 }, "Name"),
          h("th", { scope: "col", class: "number" }, "Answers"),
          h("th", { scope: "col", class: "number", title: "Not in your session yet" }, "New"),
          h(
            "th",
            {
              scope: "col",
              class: "number",
              title: "Triples of items that are alike, of those that both decide, over all others",
            },
            "Agrees",
          ),
        ),
      ),
      h("tbody", {}, state.students.map(row)),
    ),
  )
}

function agreement(state) {
  if (!state.pairs.length) return null
  const numbers = [...new Set(state.pairs.flatMap(([a, b]) => [a, b]))].sort((a, b) => a - b)
  const names = new Map(state.students.map(each => [each.number, each.name]))
  const found = new Map(
    state.pairs.flatMap(p => [
      [`${p[0]}-${p[1]}`, p],
      [`${p[1]}-${p[0]}`, p],
    ]),
  )
  const cell = (a, b) => {
    const pair = found.get(`${a}-${b}`)
    if (!pair) return h("td", { class: "self" })
    const [, , share, sentence] = pair
    return h(
      "td",
      {
        class: share === null ? "unknown" : "",
        style: `--v: ${(share ?? 0) / 100}`,
        title: sentence,
      },
      share === null ? "–" : String(share),
    )
  }
  return h(
    "section",
    { "aria-label": "Agreement" },
    h("h2", {}, "Agreement of each two, in per cent"),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        { class: "matrix" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("td"),
            numbers.map(b => h("th", { scope: "col", title: names.get(b) }, String(b))),
          ),
        ),
        h(
          "tbody",
          {},
          numbers.map(a =>
            h(
              "tr",
              {},
              h("th", { scope: "row" }, short(names.get(a) ?? "", 18)),
              numbers.map(b => cell(a, b)),
            ),
          ),
        ),
      ),
    ),
  )
}

function majority(tree, width) {
  if (!tree.items) return null
  const n = tree.items.length,
    named = n <= NAMED,
    row = named ? ROW : 2
  const names = named ? Math.min(150, 12 + 6.6 * Math.max(...tree.names.map(s => s.length))) : 8
  const left = 24,
    lines = width - names - left
  const x = at => left + (1 - at / tree.top) * lines
  const ys = unpacked(tree.y, Float32Array)
  const points = Array.from(unpacked(tree.x, Float32Array), (at, k) =>
    Number.isNaN(at) ? null : [at, ys[k]],
  )
  return h(
    "section",
    { "aria-label": "The majority's tree" },
    h("h2", {}, "The majority's tree"),
    h("p", { class: "muted small" }, tree.sentence),
    svg(
      "svg",
      { width, height: 12 + n * row, class: "majority" },
      svg("path", { class: "branches", d: pathOf(points, ([at, y]) => [x(at), 6 + y * row]) }),
      tree.clades
        .filter(c => c.percent < 100 && (c.rows[1] - c.rows[0] + 1) * row >= 26)
        .map(c =>
          svg(
            "text",
            {
              class: "support",
              x: (x(c.at[0]) - 3).toFixed(1),
              y: (6 + c.y[0] * row - 3).toFixed(1),
              "text-anchor": "end",
            },
            String(c.percent),
          ),
        ),
      named
        ? tree.names.map((name, k) =>
            svg(
              "text",
              { class: "name", x: left + lines + 5, y: 6 + (k + 0.5) * row },
              short(name, 22),
              svg("title", {}, name),
            ),
          )
        : null,
    ),
  )
}

export const render = component("class", (state, send, root) => {
  if (!state.address) return null
  whenResized(root, () => send("repaint"))
  const width = Math.max(300, Math.min(960, root.clientWidth - 48))
  return h(
    "div",
    { class: "page", "data-scroll": "class", tabindex: 0, "aria-label": "Class" },
    invitation(state, send),
    state.students.length
      ? h("div", { class: "columns" }, studentList(state, send), agreement(state))
      : h("p", { class: "muted empty" }, "No student is here yet. Their answers arrive here."),
    majority(state.majority, width),
  )
})
