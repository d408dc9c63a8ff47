SECTIONS.views = (state, send) =>
  foldable(state, send, () =>
    state.views.map(view =>
      h(
        "div",
        { class: "view" },
        h("h3", { class: "small" }, view.name[0].toUpperCase() + view.name.slice(1)),
        VIEWS[view.kind]({ ...view, label: view.name }, send),
        view.sentence && view.kind !== "sentence"
          ? h("p", { class: "muted small" }, view.sentence)
          : null,
      ),
    ),
  )
