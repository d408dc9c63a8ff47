const settings = { open: false }

export const render = component("agreement", (state, send) => {
  if (!state.methods) return h("p", { class: "muted" }, "No data yet.")
  const { rows, values } = state
  const picked = state.methods.filter(([, , on]) => on).length
  const shown = value =>
    value === null ? "–" : (Math.abs(value) < 0.005 ? 0 : value).toFixed(2).replace("-", "−")
  return h(
    "div",
    { class: "page", "data-scroll": "page", tabindex: 0, "aria-label": "Agreement of methods" },
    h(
      "div",
      { class: "toolbar" },
      h(
        "label",
        {},
        "Clusters",
        h("input", {
          type: "number",
          min: 1,
          max: state.items,
          step: 1,
          value: state.k,
          "data-key": "k",
          "aria-label": "Clusters compared",
          onchange: e => send("clusters", { value: e.target.value }),
        }),
      ),
      runButton(state, send),
      runStatus(state),
      h(
        "details",
        {
          open: settings.open,
          ontoggle: e => {
            settings.open = e.target.open
          },
        },
        h("summary", {}, `Which methods (${picked} of ${state.methods.length})`),
        h(
          "div",
          { class: "methods" },
          state.methods.map(([name, title, on]) =>
            h(
              "label",
              {},
              h("input", {
                type: "checkbox",
                "data-key": `w-${name}`,
                checked: on,
                onchange: () => send("with", { value: name }),
              }),
              title,
            ),
          ),
        ),
      ),
    ),
    rows.filter(row => row.name).length > 1
      ? null
      : h(
          "p",
          { class: "muted empty" },
          "Several methods run on these data, and their clusters are compared. ",
          "A method that finds no clusters itself has its tree cut into as many. ",
          "The table has the adjusted Rand index of each two methods: ",
          "1 for the same clusters, about 0 for agreement by chance.",
        ),
    rows.length < 2
      ? null
      : [
          h("p", { class: "summary", role: "status" }, state.sentence),
          h(
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
                  rows.map(row =>
                    h("th", { scope: "col", title: row.title }, row.name || "classes"),
                  ),
                ),
              ),
              h(
                "tbody",
                {},
                rows.map((row, a) =>
                  h(
                    "tr",
                    { class: row.name === state.now ? "current" : "" },
                    h(
                      "th",
                      { scope: "row" },
                      row.name
                        ? h(
                            "button",
                            {
                              "data-key": `r-${row.name}`,
                              title:
                                row.name === state.now
                                  ? "The method of this session"
                                  : `Make ${row.title} this session's method`,
                              onclick: () => send("method", { value: row.name }),
                            },
                            h(
                              "span",
                              {},
                              row.title,
                              h("small", { class: "cluster-source" }, row.how),
                            ),
                            row.name === state.now ? h("small", {}, "shown") : null,
                          )
                        : h("span", { class: "known-classes" }, row.title),
                    ),
                    values[a].map((value, b) =>
                      a === b
                        ? h(
                            "td",
                            {
                              class: "diagonal",
                              title:
                                `${row.title}: ${counted(state.counts[a], "cluster")}` +
                                (row.how ? ` (${row.how})` : ""),
                            },
                            `k ${state.counts[a]}`,
                          )
                        : h(
                            "td",
                            {
                              style: `--v:${Math.max(0, value ?? 0)}`,
                              title: `${row.title} and ${rows[b].title}: ${shown(value)}`,
                            },
                            shown(value),
                          ),
                    ),
                  ),
                ),
              ),
            ),
          ),
          h(
            "p",
            { class: "key small muted" },
            "Adjusted Rand index: 0",
            h("i"),
            "1",
            h(
              "span",
              {},
              "On the diagonal: the number of clusters. ",
              "It is larger than asked for if the tree has ties.",
            ),
          ),
          rows
            .filter(row => row.sentence)
            .map(row =>
              h(
                "p",
                { class: "muted small" },
                `${row.title}: ${row.sentence} Its last tree is used.`,
              ),
            ),
        ],
    state.failed.length
      ? h(
          "div",
          { class: "failed" },
          state.failed.map(([title, why]) =>
            h("p", { class: "small" }, h("b", {}, title), ` ${why}`),
          ),
        )
      : null,
  )
})
