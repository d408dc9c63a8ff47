SECTIONS.explanation = (state, send) => [
  h("h2", {}, "Why this split?"),
  h("p", { class: `small ${state.forced ? "forced" : ""}` }, state.sentence),
  state.pieces.length
    ? h(
        "ul",
        { class: "pieces", "aria-label": "Pieces that the answers hold together" },
        state.pieces.map(p =>
          h(
            "li",
            {},
            h(
              "button",
              {
                class: "bare",
                "data-key": `piece-${p.piece}`,
                title: "Select these items",
                onclick: () => send("piece", { piece: p.piece }),
              },
              h("span", {}, p.names),
              h("i", {}, p.size.toLocaleString("en")),
            ),
            p.divided
              ? h("p", { class: "small divided" }, "divided here, against the answers")
              : null,
            h(
              "ul",
              { class: "answers small" },
              p.answers.map(a => h("li", {}, a.sentence)),
              p.more ? h("li", {}, `and ${counted(p.more, "more answer")}`) : null,
            ),
          ),
        ),
      )
    : null,
  state.further
    ? h("p", { class: "muted small" }, `and ${counted(state.further, "more piece")}`)
    : null,
  state.unconstrained && state.pieces.length
    ? h(
        "p",
        { class: "muted small" },
        `${counted(state.unconstrained, "item")} that no answer holds here`,
      )
    : null,
  state.pieces.length
    ? h("button", { "data-key": "why-graph", onclick: () => send("graph") }, "Show as a graph")
    : null,
]
