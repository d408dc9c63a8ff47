// Settings of uncertain splits: which they are, and how they are drawn.
const unsure = (state, send, select) => [
  h(
    "label",
    {
      class: "below",
      title:
        "A split is uncertain if fewer of the sampled trees have it. A hidden split is drawn as " +
        "one with the branch above it",
    },
    "splits below",
    h("input", {
      class: "percent",
      type: "number",
      min: 0,
      max: 100,
      step: 5,
      "data-key": "below",
      "aria-label": "Uncertain below, per cent",
      value: state.below,
      onchange: e => send("below", { value: e.target.value }),
    }),
    "%",
  ),
  select(
    "unsure",
    "Draw uncertain splits",
    [
      ["lighter", "drawn lighter"],
      ["merged", "hidden"],
    ],
    state.unsure,
  ),
]

export const render = component("tools", (state, send) => {
  const seg = (value, text, why, hint) =>
    h(
      "button",
      {
        "data-key": `m-${value}`,
        class: state.matrix === value ? "on" : "",
        "aria-pressed": String(state.matrix === value),
        disabled: !!why,
        title: why || hint || "",
        onclick: () => send("matrix", { value }),
      },
      text,
    )
  const select = (key, text, pairs, chosen) =>
    h(
      "select",
      {
        "data-key": key,
        "aria-label": text,
        title: text,
        onchange: e => send(key, { value: e.target.value }),
      },
      options(pairs, chosen),
    )
  // Two groups, of the heatmap and of the tree. On a narrow page each has its own row.
  return [
    h(
      "div",
      { class: "group heatmap" },
      h(
        "div",
        { class: "segmented", role: "group", "aria-label": "Heatmap" },
        seg("similarity", "Similarity", state.noSimilarity),
        seg("features", "Features", state.noFeatures),
        seg(
          "uncertainty",
          "Uncertainty",
          state.noUncertainty,
          "How much the depth of two items' smallest branch varies among the sampled trees",
        ),
        seg("none", "Tree only"),
      ),
      state.matrix === "similarity" && state.sources.length
        ? select(
            "source",
            "Which similarity",
            state.sources,
            state.sources.some(([name]) => name === state.source) ? state.source : "",
          )
        : null,
      state.matrix === "features"
        ? select("scaling", "Scaling of the heatmap", state.scalings, state.scaling)
        : null,
      state.matrix === "features"
        ? select(
            "columns",
            "Order of the columns",
            [
              ["dendrogram", "clustered"],
              ["file", "file order"],
            ],
            state.columns,
          )
        : null,
    ),
    h(
      "div",
      { class: "group tree" },
      select(
        "heights",
        "Heights of the tree",
        [
          ["true", "true heights"],
          ["even", "even heights"],
        ],
        state.heights,
      ),
      h(
        "button",
        {
          "data-key": "support",
          class: state.support === "shown" && !state.noSupport ? "on" : "",
          "aria-pressed": String(state.support === "shown"),
          disabled: !!state.noSupport,
          title: state.noSupport || "How many in a hundred sampled trees have each branch",
          onclick: () => send("support", { value: state.support === "shown" ? "hidden" : "shown" }),
        },
        "Support",
      ),
      state.support === "shown" && !state.noSupport ? unsure(state, send, select) : null,
      h(
        "button",
        {
          "data-key": "colour",
          class: state.colour === "cost" && !state.noCosts ? "on" : "",
          "aria-label": "Colour by cost",
          "aria-pressed": String(state.colour === "cost"),
          disabled: !!state.noCosts,
          title:
            state.noCosts || "Colour the branches by the cost of their node instead of by cluster",
          onclick: () => send("colour", { value: state.colour === "cost" ? "clusters" : "cost" }),
        },
        "Cost",
      ),
      state.colour === "cost" && !state.noCosts
        ? h(
            "span",
            {
              class: "levels",
              role: "img",
              "aria-label":
                "Each node's share of the cost: " + state.costs.map(c => c[1]).join(", "),
              title: "A node's share of Dasgupta's cost",
            },
            state.costs.map(([colour, text]) => [h("i", { style: `background:${colour}` }), text]),
          )
        : null,
      h(
        "label",
        { class: "search", title: "Find an item (/)" },
        h("input", {
          class: "find",
          type: "search",
          list: "hc-names",
          "data-key": "find",
          placeholder: "Find an item",
          "aria-label": "Find an item",
          "aria-keyshortcuts": "/",
          onchange: e => {
            const value = e.target.value
            e.target.value = ""
            if (value) send("find", { value })
          },
          onkeydown: e => {
            if (e.key === "Escape") {
              e.stopPropagation()
              e.target.value = ""
              e.target.blur()
            }
          },
        }),
        icon("find"),
        h(
          "datalist",
          { id: "hc-names" },
          state.names.map(name => h("option", { value: name })),
        ),
      ),
      h(
        "button",
        {
          class: "square",
          "data-key": "reset",
          "aria-label": "Whole tree",
          title: "Show the whole tree (0)",
          onclick: () => send("reset"),
        },
        icon("reset"),
      ),
    ),
    levelsRow(state.levels, send),
  ]
})
