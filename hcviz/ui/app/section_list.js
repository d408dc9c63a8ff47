export const render = component("sections", (state, send, root) =>
  Object.keys(state)
    .filter(name => state[name] && SECTIONS[name])
    .map(name =>
      h(
        "section",
        { class: `section-${name}` },
        SECTIONS[name](
          state[name],
          (act, more = {}) => send(act, act === "repaint" ? more : { ...more, section: name }),
          root,
        ),
      ),
    ),
)
