SECTIONS.costs = (state, send) =>
  foldable(state, send, () =>
    state.cost === null
      ? [h("p", { class: "muted small" }, state.sentence)]
      : [
          h(
            "dl",
            { class: "numbers" },
            h("dt", { title: state.what }, "Dasgupta's cost"),
            h("dd", {}, state.cost),
            state.regularised
              ? [
                  state.regularised.lam
                    ? [
                        h(
                          "dt",
                          {
                            title:
                              "The cost, plus lambda times the weight of each violated triplet " +
                              "times the items of the smallest branch with its pair. The second " +
                              "part is subtracted if more is better.",
                          },
                          `Regularised, lambda ${state.regularised.lam}`,
                        ),
                        h("dd", {}, state.regularised.cost),
                      ]
                    : null,
                  h("dt", {}, "Violated triplets"),
                  h("dd", {}, state.regularised.violated),
                ]
              : null,
          ),
          h("p", { class: "muted small" }, state.what),
          state.mostExpensive.length
            ? [
                h("h3", {}, "Where it comes from"),
                h(
                  "ul",
                  { class: "nodes", "aria-label": "Most expensive nodes" },
                  state.mostExpensive.map(each =>
                    h(
                      "li",
                      {},
                      h(
                        "button",
                        {
                          "data-key": `expensive-${each.node}`,
                          title: "Select this branch",
                          onclick: () => send("clade", { node: each.node }),
                        },
                        h("span", {}, each.text),
                        h("i", {}, each.share),
                      ),
                    ),
                  ),
                ),
                h(
                  "button",
                  {
                    class: `small ${state.coloured ? "on" : ""}`,
                    "data-key": "cost-colours",
                    "aria-pressed": String(state.coloured),
                    onclick: () => send("colour"),
                  },
                  "Colour the branches by cost",
                ),
              ]
            : null,
        ],
  )
