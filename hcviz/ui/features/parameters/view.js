function control(field, send) {
  const key = {
    "data-key": field.name,
    "aria-label": field.title,
    "aria-description": field.doc || null,
    "aria-invalid": field.error ? "true" : null,
    "aria-describedby": field.error ? `why-${field.name}` : null,
  }
  const set = value => send("set", { name: field.name, value })
  if (field.kind === "switch")
    return h("input", {
      ...key,
      type: "checkbox",
      checked: field.value,
      onchange: e => set(e.target.checked),
    })
  if (field.kind === "choice")
    return h(
      "select",
      { ...key, onchange: e => set(e.target.value) },
      options(field.options, field.value),
    )
  return h("input", {
    ...key,
    type: "text",
    value: field.value,
    placeholder: field.placeholder,
    spellcheck: "false",
    onchange: e => set(e.target.value),
  })
}

// The explanation of the method stays open when another method is chosen.
const opened = { how: false }

const row = (field, send) => [
  h(
    "label",
    { class: `field ${field.error ? "wrong" : ""}`, title: field.doc },
    h("span", {}, field.title),
    control(field, send),
  ),
  field.error
    ? h("p", { class: "why", id: `why-${field.name}`, role: "alert" }, field.error)
    : null,
]

export const render = component("form", (state, send) => [
  state.data.length ? h("h2", {}, "Data") : null,
  ...state.data.map(f => row(f, send)),
  h("h2", {}, "Method"),
  state.about ? h("p", { class: "muted small" }, state.about) : null,
  state.how
    ? h(
        "details",
        {
          class: "how muted small",
          open: opened.how,
          ontoggle: e => {
            opened.how = e.target.open
          },
        },
        h("summary", { "data-key": "how" }, "How it works"),
        h("p", {}, state.how),
      )
    : null,
  state.fields.length
    ? state.fields.map(f => row(f, send))
    : h("p", { class: "muted small" }, "This method has no parameters."),
  state.place ? h("p", { class: "muted small place" }, state.place) : null,
])
