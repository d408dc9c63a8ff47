export const render = component("presenter", (state, send) => {
  if (!state.on) return null
  const button = (act, text, title, more = {}) =>
    h("button", { "data-key": `present-${act}`, title, onclick: () => send(act), ...more }, text)
  return h(
    "section",
    { class: "presentation", "aria-label": "Presentation" },
    h(
      "div",
      { class: "about", role: "status" },
      h("p", { class: state.whole ? "heading" : "heading now" }, state.heading),
      h("p", { class: "detail" }, state.detail),
    ),
    h(
      "div",
      { class: "go" },
      state.at ? h("span", { class: "muted at" }, `${state.at} of ${state.stops}`) : null,
      button("back", "Back", "The branch before (← or Page Up)", { disabled: state.first }),
      button("next", "Next", "The next branch (→ or Page Down)", {
        class: "main",
        disabled: state.last,
      }),
      button("stop", icon("close"), "End the presentation (Esc)", {
        class: "bare",
        "aria-label": "End the presentation",
      }),
    ),
  )
})
