function control(field, send) {
  const key = { "data-key": field.name, "aria-label": field.title }
  if (field.kind === "switch")
    return h("input", { ...key, type: "checkbox", checked: field.value, onchange: e => send("set", { name: field.name, value: e.target.checked }) })
  if (field.kind === "choice")
    return h("select", { ...key, onchange: e => send("set", { name: field.name, value: e.target.value }) }, options(field.options, field.value))
  return h("input", { ...key, type: "text", value: field.value, placeholder: field.placeholder, spellcheck: "false",
    onchange: e => send("set", { name: field.name, value: e.target.value }) })
}

export const render = component("form", (state, send) => [
  state.data.length ? h("h2", {}, "Data") : null, ...state.data.map(f => h("label", { class: "field", title: f.doc }, h("span", {}, f.title), control(f, send))),
  h("h2", {}, "Method"),
  state.about ? h("p", { class: "quiet small" }, state.about) : null,
  state.fields.length ? state.fields.map(f => h("label", { class: "field", title: f.doc }, h("span", {}, f.title), control(f, send)))
    : h("p", { class: "quiet small" }, "This method has no parameters."),
])
