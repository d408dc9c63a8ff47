// The ticked names, and the new name that is typed for them.
let ticked = new Set()
let typed = ""

const percent = value => (value === null ? "–" : `${Math.round(100 * value)} %`)

export const render = component(
  "card-sort",
  (state, send) => {
    if (!state.names) return h("p", { class: "muted" }, "No card sort is open.")
    const names = new Set(state.names.map(row => row.name))
    ticked = new Set([...ticked].filter(name => names.has(name)))
    const off = state.participants - state.on
    return h(
      "div",
      { class: "page", "data-scroll": "page", tabindex: 0, "aria-label": "Card sort" },
      h(
        "p",
        { class: "toolbar", role: "status" },
        h("b", {}, state.title),
        h(
          "span",
          { class: "muted" },
          [
            counted(state.participants, "participant") + (off ? ` (${off} switched off)` : ""),
            counted(state.cards, "card"),
            counted(state.piles, "pile"),
            counted(state.nameCount, "name"),
          ].join(" · "),
        ),
      ),
      h(
        "div",
        { class: "methods" },
        h("span", { class: "muted small" }, "Tree of the piles:"),
        state.methods.map(([name, title, summary]) =>
          h(
            "button",
            {
              class: name === state.method ? "on" : "",
              "data-key": `m-${name}`,
              title: summary,
              onclick: () => send("method", { value: name }),
            },
            title,
          ),
        ),
        h(
          "button",
          {
            "data-key": "heatmap",
            title: "For each two cards, the share of participants who put them on one pile",
            onclick: () => send("heatmap"),
          },
          "Agreement of cards (heatmap)",
        ),
      ),
      h(
        "div",
        { class: "parts" },
        h("section", { class: "names" }, namesPart(state, send)),
        h("section", { class: "participants" }, peoplePart(state, send)),
        h("section", { class: "variety" }, variousPart(state, send)),
      ),
    )
  },
  (live, root) => {
    const selected = new Set(live.selected ?? [])
    for (const row of root.querySelectorAll(".variety [data-card]"))
      row.classList.toggle("on", selected.has(Number(row.dataset.card)))
  },
)

function namesPart(state, send) {
  const ready = ticked.size > 0 && typed.trim() !== ""
  const merge = () => {
    const names = [...ticked]
    const name = typed
    ticked = new Set()
    typed = ""
    send("merge", { names, name })
    send("repaint")
  }
  return [
    h("h2", {}, "Names of piles"),
    h(
      "p",
      { class: "muted small" },
      "Tick names that mean the same, and merge them. The piles stay as they are.",
    ),
    h(
      "form",
      {
        class: "merge",
        onsubmit: event => {
          event.preventDefault()
          if (ticked.size && typed.trim()) merge()
        },
      },
      h("input", {
        type: "text",
        class: "new-name",
        "data-key": "new-name",
        "aria-label": "Merge as",
        placeholder: "Merge as…",
        maxlength: 200,
        value: typed,
        oninput: event => {
          typed = event.target.value
          event.target.form.querySelector("button").disabled = !ticked.size || !typed.trim()
        },
      }),
      h(
        "button",
        { type: "submit", "data-key": "merge", disabled: !ready },
        ticked.size > 1 ? `Merge ${ticked.size} names` : ticked.size ? "Rename" : "Merge",
      ),
    ),
    h(
      "div",
      { class: "scroll" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", {}, h("span", { class: "sr-only" }, "Merge")),
            h("th", {}, "Name"),
            h("th", { title: "Participants who used the name" }, "Used by"),
            h("th", { title: "With the number of participants who put the card there" }, "Cards"),
          ),
        ),
        h(
          "tbody",
          {},
          state.names.map(row => nameRow(row, state, send)),
        ),
      ),
    ),
    state.nameCount > state.names.length
      ? h("p", { class: "muted small" }, `The ${state.names.length} most used names are listed.`)
      : null,
  ]
}

function nameRow(row, state, send) {
  const spellings = row.spellings.map(([name, count]) => `${name} (${count})`).join(", ")
  const various = row.merged || row.spellings.length > 1
  return h(
    "tr",
    {},
    h(
      "td",
      { class: "tick" },
      h("input", {
        type: "checkbox",
        "data-key": `t-${row.name}`,
        "aria-label": `Tick ${row.name}`,
        checked: ticked.has(row.name),
        onchange: event => {
          if (event.target.checked) ticked.add(row.name)
          else ticked.delete(row.name)
          if (!typed.trim() || known(state, typed)) typed = firstTicked(state)
          send("repaint")
        },
      }),
    ),
    h(
      "th",
      { scope: "row" },
      h("span", { class: "name", dir: "auto", title: row.name }, row.name),
      various ? h("small", { class: "muted", title: spellings }, short(spellings, 90)) : null,
      h(
        "div",
        { class: "buttons" },
        h(
          "button",
          {
            "data-key": `s-${row.name}`,
            "aria-label": `Select the cards of ${row.name}`,
            title:
              "Select the cards that half of its participants put there. The inspector then " +
              "offers " +
              "the name for the group",
            onclick: () => send("select-name", { name: row.name }),
          },
          "Select cards",
        ),
        row.merged
          ? h(
              "button",
              {
                "data-key": `x-${row.name}`,
                "aria-label": `Split ${row.name}`,
                title: "Separate the merged names again",
                onclick: () => send("split", { name: row.name }),
              },
              "Split",
            )
          : null,
      ),
    ),
    h("td", { class: "used" }, bar(row.participants / state.on, String(row.participants))),
    h(
      "td",
      { class: "cards" },
      row.cards.map(([card, count]) =>
        h("span", { class: "card" }, h("span", { dir: "auto" }, card), h("small", {}, count)),
      ),
      row.cardCount > row.cards.length
        ? h("small", { class: "muted" }, `and ${row.cardCount - row.cards.length} more`)
        : null,
    ),
  )
}

// The most used of the ticked names, which the merged names get unless another is typed.
function firstTicked(state) {
  return state.names.find(row => ticked.has(row.name))?.name ?? ""
}

function known(state, name) {
  return state.names.some(row => row.name === name)
}

function bar(share, text) {
  const width = `width:${(100 * Math.max(0, Math.min(1, share ?? 0))).toFixed(1)}%`
  return [
    h("span", { class: "bar", "aria-hidden": "true" }, h("i", { style: width })),
    h("span", { class: "value" }, text),
  ]
}

function peoplePart(state, send) {
  return [
    h("h2", {}, "Participants"),
    h(
      "p",
      { class: "muted small" },
      "Agreement: the mean Jaccard index with each other participant, of the pairs of cards on " +
        "one " +
        "pile. Untick a participant to compute everything without them.",
    ),
    state.waiting
      ? h("p", { class: "muted" }, "Computing…")
      : h(
          "div",
          { class: "scroll list" },
          h(
            "table",
            {},
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                ["Participant", "Piles", "Agreement"].map(text => h("th", {}, text)),
              ),
            ),
            h(
              "tbody",
              {},
              state.people.map(each =>
                h(
                  "tr",
                  { class: each.on ? "" : "off" },
                  h(
                    "th",
                    { scope: "row" },
                    h(
                      "label",
                      {},
                      h("input", {
                        type: "checkbox",
                        "data-key": `p-${each.name}`,
                        checked: each.on,
                        disabled: each.on && state.on === 1,
                        onchange: event =>
                          send("participant", { name: each.name, on: event.target.checked }),
                      }),
                      h("span", { class: "name", dir: "auto", title: each.name }, each.name),
                    ),
                  ),
                  h("td", { class: "count", title: counted(each.cards, "card") }, each.piles),
                  h(
                    "td",
                    { class: "used" },
                    each.on ? bar(each.agreement, percent(each.agreement)) : "off",
                  ),
                ),
              ),
            ),
          ),
        ),
    state.peopleCount > state.people.length
      ? h("p", { class: "muted small" }, `The first ${state.people.length} are listed.`)
      : null,
  ]
}

function variousPart(state, send) {
  return [
    h("h2", {}, "Cards placed most variously"),
    h(
      "p",
      { class: "muted small" },
      "How far the piles with the card differ between two participants. 0 %: all made the same " +
        "pile. The more, the fewer cards these piles share.",
    ),
    state.waiting
      ? h("p", { class: "muted" }, "Computing…")
      : h(
          "div",
          { class: "scroll list" },
          state.various.map(each =>
            h(
              "button",
              {
                class: "bare row",
                "data-key": `c-${each.id}`,
                "data-card": each.id,
                title: `Select ${each.name}`,
                onclick: () => send("select-card", { id: each.id }),
              },
              h("span", { class: "name", dir: "auto" }, each.name),
              bar(each.variety, percent(each.variety)),
            ),
          ),
        ),
    state.variousCount > state.various.length
      ? h("p", { class: "muted small" }, `The first ${state.various.length} are listed.`)
      : null,
  ]
}
