// The items of the statement in progress, each with a button that takes it back.
function picked(kind, title, items, send) {
  if (!items.shown.length) return null
  return h(
    "div",
    { class: `picked ${kind}`, role: "group", "aria-label": title },
    items.shown.map(item =>
      h(
        "button",
        {
          class: `chip ${kind}`,
          "data-key": `${kind}-${item.id}`,
          title: `Take ${item.name} back`,
          "aria-label": `${title}: ${item.name}. Take it back`,
          onclick: () => send("take-back", { item: item.id }),
        },
        item.name,
        h("i", { "aria-hidden": "true" }, "×"),
      ),
    ),
    items.more
      ? h("span", { class: "muted small" }, `and ${items.more.toLocaleString("en")} more`)
      : null,
  )
}
