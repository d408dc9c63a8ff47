const facts = (pairs, notes = {}) =>
  h(
    "dl",
    {},
    ...pairs.flatMap(([k, v]) => [h("dt", { title: notes[k] || null }, k), h("dd", {}, v)]),
  )

const SHOWN = 4 // clades of each kind, until a person opens the list
const all = { gained: false, lost: false }
let detailsOpen = false // of the supports

function changed(group, send) {
  const { which, count, clades } = group
  const word = which === "gained" ? "new" : "gone"
  const shown = all[which] ? clades : clades.slice(0, SHOWN)
  const rest = count - clades.length
  return h(
    "div",
    { class: `changed ${which}` },
    h("h3", {}, `${count.toLocaleString("en")} ${word}`),
    h(
      "ul",
      { "aria-label": `Branches ${word}` },
      shown.map(c =>
        h(
          "li",
          {},
          h(
            "button",
            {
              "data-key": `c-${which}-${c.node}`,
              title: `${c.title}. Click to select them.`,
              onclick: () => send("clade", { which, node: c.node }),
            },
            h("span", {}, c.text),
            h("i", {}, String(c.size)),
          ),
        ),
      ),
    ),
    clades.length > SHOWN
      ? h(
          "button",
          {
            class: "bare small",
            "data-key": `all-${which}`,
            "aria-expanded": String(all[which]),
            onclick: () => {
              all[which] = !all[which]
              send("repaint")
            },
          },
          all[which] ? "Show fewer" : `Show ${clades.length - SHOWN} more`,
        )
      : null,
    all[which] && rest > 0
      ? h("p", { class: "muted small" }, `and ${rest.toLocaleString("en")} that differ less`)
      : null,
  )
}

function changes(state, send) {
  if (!state) return null
  const groups = state.groups.filter(group => group.count)
  return [
    h("h2", {}, state.title),
    state.later
      ? h(
          "p",
          { class: "muted small" },
          "Branches that change are listed here when the run has finished.",
        )
      : [
          h("p", { class: "muted small", title: state.hint || null }, state.sentence),
          groups.map(group => changed(group, send)),
        ],
  ]
}

export const render = component(
  "inspector",
  (state, send) => {
    const s = state.selection
    return [
      h("h2", {}, "Selected"),
      s
        ? h(
            "div",
            { class: "selected" },
            s.image ? h("img", { class: "thumb", src: s.image, alt: s.title }) : null,
            h("div", { class: "name" }, s.title),
            nameField(s.group, send),
            h(
              "div",
              { class: "row" },
              h("button", { "data-key": "focus", onclick: () => send("focus") }, "Zoom to it"),
              s.count > 1
                ? h(
                    "button",
                    { "data-key": "collapse", onclick: () => send("collapse") },
                    "Collapse or expand",
                  )
                : null,
              s.parent
                ? h(
                    "button",
                    {
                      "data-key": "parent",
                      title: "Select the next larger branch",
                      onclick: () => send("parent"),
                    },
                    "Widen",
                  )
                : null,
              clusterButtons(s.clusters, send),
            ),
            s.support ? h("p", { class: "small" }, s.support) : null,
            facts(s.facts, s.factNotes),
            aboutSelection(s.about, s.group, send),
            s.members.length > 1
              ? [
                  h("h2", {}, "Its items"),
                  h(
                    "div",
                    { class: "chips", "data-scroll": "members", "aria-label": "Members" },
                    s.members.map(m =>
                      h(
                        "button",
                        {
                          title: m.name,
                          "data-key": `m-${m.id}`,
                          onclick: () => send("pick", { id: m.id }),
                        },
                        m.name,
                      ),
                    ),
                    s.more ? h("span", { class: "muted small" }, `and ${s.more} more`) : null,
                  ),
                ]
              : null,
          )
        : h(
            "p",
            { class: "muted small selected" },
            "Click anywhere near a branch, a name or a cell of the heatmap.",
          ),
      // The same as text, which a screen reader reads when the selection changes.
      h(
        "div",
        {
          class: "sr-only",
          role: "region",
          "aria-live": "polite",
          "aria-label": "Selected subtree in words",
        },
        s ? s.words : "Nothing is selected.",
      ),
      h("h2", {}, "This tree"),
      h("p", { class: "accuracy", role: "status", hidden: true }),
      h("div", { class: "tree-facts" }),
      changes(state.changes, send),
      ...state.notes.map(note => h("p", { class: "muted small" }, note)),
    ]
  },
  (live, root) => {
    const accuracy = root.querySelector(".accuracy")
    accuracy.hidden = !live.accuracy
    accuracy.className = `accuracy ${(live.accuracy?.word ?? "").replaceAll(" ", "-")}`
    const active = root.getRootNode().activeElement
    const focused = active?.tagName === "SUMMARY" && accuracy.contains(active)
    accuracy.replaceChildren(
      live.accuracy ? h("b", {}, `Supports: ${live.accuracy.word}`) : "",
      live.accuracy?.why ?? "",
      live.accuracy?.details
        ? h(
            "details",
            {
              open: detailsOpen,
              ontoggle: event => {
                detailsOpen = event.target.open
              },
            },
            h(
              "summary",
              {
                "data-key": "details",
                title:
                  "R-hat compares the chains and their halves: below 1.01 they agree. " +
                  "Effective draws: the number of independent draws with the same accuracy.",
              },
              "Details",
            ),
            live.accuracy.details,
            facts(live.details),
          )
        : "",
    )
    if (focused) accuracy.querySelector("summary")?.focus({ preventScroll: true })
    root
      .querySelector(".tree-facts")
      .replaceChildren(
        live.facts?.length ? facts(live.facts) : h("p", { class: "muted small" }, "No tree yet."),
      )
  },
)
