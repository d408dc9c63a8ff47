SECTIONS.clusters = (state, send) => {
  const { points, best, shown, quality } = state
  const Quality = quality[0].toUpperCase() + quality.slice(1)
  return [
    h("h2", {}, "How many clusters"),
    h("p", { class: "small" }, state.sentence),
    VIEWS.series({
      points,
      label: `${Quality} by the number of clusters. ${state.sentence}`,
      point: (k, value) => ({
        "data-key": `k-${k}`,
        class: (k === shown ? "shown " : "") + (k === best ? "best" : ""),
        "aria-pressed": String(k === shown),
        "aria-label": `${counted(k, "cluster")}, ${quality} ${value.toFixed(3)}`,
        title:
          `${counted(k, "cluster")}: ${quality} ${value.toFixed(3)}` +
          `${k === best ? ", the highest" : ""}. Click to choose ${k}.`,
        onclick: () => send("k", { value: k }),
      }),
    }),
    h(
      "p",
      { class: "series-key small muted" },
      h("i", { class: "best" }),
      `highest ${quality}`,
      h("i", { class: "shown" }),
      "shown",
    ),
    state.own
      ? h(
          "button",
          {
            class: "small",
            "data-key": "estimate",
            onclick: () => send("estimate"),
          },
          "Let the data choose again",
        )
      : null,
  ]
}
