// What a person has changed and not used yet, and the columns that it is about.
let draft = null
let draftOf = ""

export const render = component("columns", (state, send) => {
  if (!state.file) return h("p", { class: "muted" }, "No table is open.")
  const before = JSON.stringify(state.columns)
  if (draftOf !== before) {
    draft = state.columns.map(each => ({ ...each }))
    draftOf = before
  }
  const changed = JSON.stringify(draft) !== before
  const change = (row, more) => {
    Object.assign(row, more)
    send("repaint")
  }
  const use = columns => send("use", { columns })
  return h(
    "div",
    { class: "page", "data-scroll": "page", tabindex: 0, "aria-label": "Columns of the table" },
    h(
      "div",
      { class: "toolbar" },
      h("b", { title: state.file }, state.file),
      h(
        "span",
        { class: "muted" },
        [counted(state.items, "item"), state.format].filter(Boolean).join(" · "),
      ),
      pick("Read as", "kind", state.fileKinds, state.kind, send),
      state.sheets.length > 1
        ? pick(
            "Sheet",
            "worksheet",
            state.sheets.map(name => [name, name]),
            state.sheet,
            send,
          )
        : null,
      state.columns.length
        ? pick("Compare by", "similarity", state.similarities, state.similarity, send)
        : null,
    ),
    state.comparison ? h("p", { class: "summary muted" }, state.comparison) : null,
    state.columns.length
      ? [
          h("div", { class: "scroll" }, columnTable(state, change)),
          state.unlisted
            ? h("p", { class: "muted" }, `${counted(state.unlisted, "more column")} not listed.`)
            : null,
          h(
            "div",
            { class: "buttons" },
            h(
              "button",
              {
                class: "main",
                "data-key": "use",
                disabled: !changed,
                onclick: () =>
                  use(
                    draft.map(({ name, kind, used, strip, weight }) => ({
                      name,
                      kind,
                      used,
                      strip,
                      weight,
                    })),
                  ),
              },
              "Use these columns",
            ),
            h(
              "button",
              {
                "data-key": "reset",
                disabled: !changed && !state.changed,
                onclick: () => {
                  draftOf = ""
                  if (state.changed) use([]) // no options of columns: as detected
                  else send("repaint")
                },
              },
              "As detected",
            ),
            h(
              "span",
              { class: "muted small", role: "status" },
              changed ? "Not used yet." : "The tree uses these columns.",
            ),
          ),
        ]
      : h("p", { class: "muted" }, "This kind of file has no columns to choose."),
    state.notes.length
      ? h(
          "ul",
          { class: "notes muted small" },
          state.notes.map(note => h("li", {}, note)),
        )
      : null,
  )
})

function pick(title, key, pairs, chosen, send) {
  return h(
    "label",
    {},
    title,
    h(
      "select",
      { "data-key": key, onchange: event => send(key, { value: event.target.value }) },
      options(pairs, chosen),
    ),
  )
}

function columnTable(state, change) {
  const heads = [
    ["Use", "Compare the items by this column"],
    ["Column", ""],
    ["Detected", ""],
    ["Read as", ""],
    ["Weight", "A column of weight 2 counts as much as two columns"],
    ["Colours", "Draw the column as colours beside the tree, with a legend"],
    ["Missing", "Cells without a value"],
    ["Values", "Different values"],
    ["Examples", ""],
  ]
  return h(
    "table",
    {},
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heads.map(([text, title]) => h("th", { title: title || null }, text)),
      ),
    ),
    h(
      "tbody",
      {},
      draft.map(row => columnRow(row, state, change)),
    ),
  )
}

function columnRow(row, state, change) {
  const skipped = row.kind === "identifier"
  return h(
    "tr",
    { class: row.used && !skipped ? "" : "off" },
    h(
      "td",
      { class: "tick" },
      h("input", {
        type: "checkbox",
        "data-key": `use-${row.name}`,
        "aria-label": `Use ${row.name}`,
        checked: row.used && !skipped,
        disabled: !row.canUse || skipped,
        title: skipped ? "Identifiers are not compared. Choose another kind first." : null,
        onchange: event => change(row, { used: event.target.checked }),
      }),
    ),
    h("th", { scope: "row", title: row.name }, row.name),
    h("td", { class: "detected muted" }, row.detected),
    h(
      "td",
      {},
      row.fixed
        ? ""
        : h(
            "select",
            {
              "data-key": `kind-${row.name}`,
              "aria-label": `Kind of ${row.name}`,
              onchange: event => {
                const kind = event.target.value
                change(row, { kind, used: kind === "identifier" ? false : row.used || skipped })
              },
            },
            options(state.kinds, row.kind),
          ),
    ),
    h(
      "td",
      {},
      row.fixed
        ? ""
        : h("input", {
            type: "number",
            min: 0.001,
            max: 1000,
            step: "any",
            value: row.weight,
            disabled: !row.used,
            "data-key": `weight-${row.name}`,
            "aria-label": `Weight of ${row.name}`,
            onchange: event => change(row, { weight: event.target.valueAsNumber }),
          }),
    ),
    h(
      "td",
      { class: "tick" },
      row.fixed
        ? ""
        : h("input", {
            type: "checkbox",
            "data-key": `strip-${row.name}`,
            "aria-label": `Colours of ${row.name}`,
            checked: row.strip,
            onchange: event => change(row, { strip: event.target.checked }),
          }),
    ),
    h("td", { class: "count" }, row.missing ? row.missing.toLocaleString("en") : "–"),
    h("td", { class: "count" }, row.distinct.toLocaleString("en")),
    h("td", { class: "examples", title: row.examples.join(", ") }, row.examples.join(", ")),
  )
}
