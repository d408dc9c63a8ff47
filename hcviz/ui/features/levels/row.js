// The buttons that change the clusters by hand.
function clusterButtons({ split, merge }, send) {
  return [
    ["split", split],
    ["merge", merge],
  ].map(([name, { text, title, on }]) =>
    h(
      "button",
      {
        "data-key": name,
        disabled: !on,
        title,
        onclick: () => send(name),
      },
      text,
    ),
  )
}

// The number of clusters that the slider asked for, until the server has shown it.
let asked = null

// The number of clusters as a field and as a slider, and the buttons beside them.
function levelsRow(state, send) {
  if (asked === state.shown || state.byHand) asked = null
  const count = asked ?? state.shown
  const spoken = number => counted(number, "cluster")
  const field = h("input", {
    class: "count",
    type: "number",
    min: 0,
    max: state.items,
    "data-key": "clusters",
    "aria-label": "Clusters",
    placeholder: state.found ? String(state.found) : "none",
    value: state.clusters ?? "",
    onchange: e => send("clusters", { value: e.target.value }),
  })
  const slider = h("input", {
    class: "count-slider",
    type: "range",
    min: 1,
    max: state.most,
    step: 1,
    value: Math.max(count, 1),
    "data-key": "walk",
    "aria-label": "Number of clusters",
    "aria-valuetext": spoken(count),
    title: "Move to change the number of clusters",
    oninput: e => {
      asked = +e.target.value
      field.value = asked
      e.target.setAttribute("aria-valuetext", spoken(asked))
      send("clusters", { value: String(asked) })
    },
  })
  return h(
    "div",
    { class: "group levels-row", role: "group", "aria-label": "Levels" },
    h(
      "label",
      {
        title:
          (state.found ? `The method found ${state.found}. ` : "") +
          "Drag the dashed line, move the slider, or type the number of clusters" +
          (state.clusters === 0 ? ". Clear the field for those that the method finds" : ""),
      },
      "Clusters",
      field,
    ),
    slider,
    state.byHand
      ? h(
          "span",
          {
            class: state.lost ? "by-hand warn" : "by-hand",
            title:
              state.lost ||
              "Clusters chosen by hand: no one height gives them. The slider replaces them.",
          },
          "by hand",
        )
      : null,
    clusterButtons(state, send),
    h(
      "button",
      {
        "data-key": "name-clusters",
        disabled: !!state.noNaming,
        title: state.noNaming || "Make a named group of each cluster: a first draft of a taxonomy",
        onclick: () => send("name-clusters"),
      },
      "Name these clusters",
    ),
    h(
      "label",
      { class: "level", title: "Collapse the picture to clusters or to a level of the groups" },
      "Show",
      h(
        "select",
        {
          "data-key": "level",
          "aria-label": "Collapse to",
          onchange: e => send("level", { value: e.target.value }),
        },
        options(state.levels, state.level),
      ),
    ),
  )
}
