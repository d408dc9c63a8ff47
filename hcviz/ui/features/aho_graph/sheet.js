export const render = component("ahograph", (state, send) => {
  const pick = (value, text) =>
    h(
      "button",
      {
        "data-key": value,
        class: state.subject === value ? "on" : "",
        "aria-pressed": String(state.subject === value),
        onclick: () => send("subject", { value }),
      },
      text,
    )
  if (!state.title) return h("p", { class: "muted" }, "No answers yet.")
  return [
    h(
      "div",
      { class: "head" },
      h("h1", {}, state.title),
      state.both
        ? h(
            "div",
            { class: "subjects", role: "group", "aria-label": "What to explain" },
            pick("conflict", "The contradiction"),
            pick("split", "The selected clade"),
          )
        : null,
    ),
    state.sentences.map(sentence => h("p", { class: "summary" }, sentence)),
    state.card
      ? h(
          "div",
          { class: "choices", role: "group", "aria-label": "What to do" },
          state.card.repairs.map(r =>
            h(
              "button",
              {
                "data-key": `repair-${r.id}`,
                onclick: () => send("resolve", { enable: state.card.id, disable: r.id }),
              },
              r.sentence,
            ),
          ),
          h(
            "button",
            { "data-key": "dismiss", onclick: () => send("dismiss") },
            "Leave the new answer switched off",
          ),
          state.card.softs.map(s =>
            h(
              "button",
              {
                "data-key": `soften-${s.method}`,
                title: s.title,
                onclick: () => send("soften", { method: s.method }),
              },
              s.text,
            ),
          ),
        )
      : null,
    h(
      "div",
      { class: "key small muted" },
      state.key.map(([kind, text]) => h("span", {}, h("i", { class: kind }), text)),
      state.drawn
        ? "A line joins two items that an answer holds together; point at it to read which. "
        : null,
      state.left
        ? `${counted(state.left, "more item")} ${state.left === 1 ? "is" : "are"} not drawn.`
        : null,
    ),
  ]
})
