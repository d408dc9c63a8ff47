SECTIONS.why = (state, send) => [
  h("h2", {}, "Why this split?"),
  h("p", { class: `small ${state.forced ? "forced" : ""}` }, state.said),
  state.pieces.length ? h("ul", { class: "pieces", "aria-label": "Pieces that the answers hold together" }, state.pieces.map(p => h("li", {},
    h("button", { type: "button", class: "bare", "data-key": `piece-${p.piece}`, title: "Select these items", onclick: () => send("piece", { piece: p.piece }) },
      h("span", {}, p.names), h("i", {}, p.size.toLocaleString("en"))),
    p.parted ? h("p", { class: "small parted" }, "parted here, against the answers") : null,
    h("ul", { class: "by small" }, p.answers.map(a => h("li", {}, a.sentence)), p.more ? h("li", {}, `and ${p.more.toLocaleString("en")} more answers`) : null)))) : null,
  state.further ? h("p", { class: "quiet small" }, `and ${state.further.toLocaleString("en")} more pieces`) : null,
  state.single && state.pieces.length ? h("p", { class: "quiet small" }, `${state.single.toLocaleString("en")} item${state.single === 1 ? "" : "s"} that no answer holds here`) : null,
  state.pieces.length ? h("button", { type: "button", "data-key": "why-graph", onclick: () => send("graph") }, "Show as a graph") : null,
]
