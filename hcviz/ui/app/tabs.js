export const render = component("tabs", (state, send) => {
  const step = (event, by) => {
    const open = state.tabs.filter(tab => !tab.lacks)
    const next =
      open[(open.findIndex(tab => tab.name === state.now) + by + open.length) % open.length]
    event.preventDefault()
    event.stopPropagation()
    send("sheet", { value: next.name })
  }
  return h(
    "div",
    {
      class: "tabs",
      role: "tablist",
      "aria-label": "Views",
      onkeydown: event => {
        if (event.key === "ArrowRight") step(event, 1)
        else if (event.key === "ArrowLeft") step(event, -1)
      },
    },
    state.tabs.map(tab =>
      h(
        "button",
        {
          role: "tab",
          "data-key": `tab-${tab.name === state.now ? "now" : tab.name}`,
          class: tab.name === state.now ? "current" : "",
          "aria-selected": String(tab.name === state.now),
          tabindex: tab.name === state.now ? 0 : -1,
          disabled: !!tab.lacks,
          title: tab.lacks || tab.summary,
          onclick: () => send("sheet", { value: tab.name }),
        },
        tab.title,
      ),
    ),
  )
})
