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
            pick("split", "The selected branch"),
          )
        : null,
    ),
    state.sentences.map(sentence => h("p", { class: "summary" }, sentence)),
    state.card ? conflictChoices(state.card, send) : null,
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
