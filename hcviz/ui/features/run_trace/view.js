export const render = component("trace", (state, send) =>
  h(
    "label",
    {},
    h("span", {}, "Trace"),
    h(
      "select",
      { "data-key": "metric", onchange: event => send("metric", { value: event.target.value }) },
      options(
        (state.metrics ?? []).map(name => [name, name]),
        state.shown,
      ),
    ),
  ),
)
