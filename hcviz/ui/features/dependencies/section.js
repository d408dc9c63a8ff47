SECTIONS.worth = (state, send) =>
  foldable(state, send, () =>
    state.sentence
      ? [h("p", { class: "muted small" }, state.sentence)]
      : [
          h(
            "dl",
            { class: "numbers" },
            state.facts.map(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]),
          ),
          h("p", { class: "muted small" }, state.words),
          h("p", { class: "small" }, h("b", {}, state.count)),
          h(
            "ul",
            {
              class: "marked-answers",
              "data-scroll": "marked",
              "aria-label": "Answers and what they are worth",
            },
            state.answers.map(each =>
              h(
                "li",
                {},
                h(
                  "button",
                  {
                    "data-key": `worth-${each.id}`,
                    title: `${each.sentence}: ${each.why}. Click to select its items.`,
                    onclick: () => send("show", { id: each.id }),
                  },
                  h("i", { class: `mark ${each.mark}` }, each.mark),
                  h("span", {}, each.sentence),
                ),
              ),
            ),
          ),
          state.more
            ? h("p", { class: "muted small" }, `and ${state.more.toLocaleString("en")} more`)
            : null,
          state.method ? h("p", { class: "muted small" }, state.method) : null,
          h(
            "button",
            {
              class: "small",
              "data-key": "worth-sheet",
              onclick: () => send("sheet"),
            },
            "Draw how they depend on each other",
          ),
        ],
  )
