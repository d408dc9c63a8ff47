// The groups of an item, each with its probability as a bar and a number.
function places(row) {
  if (!row.path.length) return h("td", { class: "muted" }, "No group")
  return h(
    "td",
    { class: "places" },
    row.path.map((level, at) =>
      h(
        "div",
        { class: "place", title: `${level.name}: ${level.percent} %` },
        h("span", { class: "name", style: `--level: ${at}` }, level.name),
        h(
          "span",
          { class: "bar", "aria-hidden": "true" },
          h("i", { style: `width: ${level.percent}%` }),
        ),
        h("span", { class: "number" }, `${level.percent} %`),
      ),
    ),
  )
}

// The select of another group. It gets the whole outline when a person is about to open it, since
// hundreds of rows with all groups would be slow.
function groupSelect(row, state, send) {
  const name = state.groups.find(([id]) => id === row.group)?.[1] ?? "No group"
  const select = h(
    "select",
    {
      "data-key": `group-${row.row}`,
      "aria-label": `Group of ${row.item}`,
      title: `Group of ${row.item}: ${name}`,
      class: row.byHand ? "by-hand" : "",
      onpointerdown: fill,
      onfocus: fill,
      onchange: event => send("choose-group", { row: row.row, group: event.target.value }),
    },
    h("option", { value: row.group }, name),
  )
  function fill() {
    if (select.options.length > 1) return
    const all = state.groups.map(([id, text, level]) => [id, "\u00a0\u00a0".repeat(level) + text])
    select.replaceChildren(...options([...all, ["", "No group"]], row.group))
  }
  return select
}

function itemRow(row, state, send) {
  return h(
    "tr",
    { "data-row": row.row },
    h(
      "td",
      { class: "item" },
      h(
        "button",
        {
          class: "bare name",
          "data-key": `show-${row.row}`,
          title: `Show the group of ${row.item} in the tree`,
          onclick: () => send("show-placed", { row: row.row }),
        },
        row.item,
      ),
    ),
    places(row),
    h(
      "td",
      { class: "decision" },
      groupSelect(row, state, send),
      row.locked
        ? h(
            "span",
            {
              class: "lock",
              title: "The group is locked, or one around it: the lock will include the item",
            },
            icon("lock"),
          )
        : h("span", { class: "lock" }),
      textButton(
        `accept-${row.row}`,
        "Accept",
        () => send("accept-item", { row: row.row }),
        `Add ${row.item} to the data${row.group ? " and to this group" : ""}`,
      ),
      textButton(
        `dismiss-${row.row}`,
        "Dismiss",
        () => send("dismiss-item", { row: row.row }),
        `Do not add ${row.item}`,
      ),
    ),
  )
}

function table(rows, head, state, send, isGuess = false) {
  return h(
    "table",
    { class: isGuess ? "guesses" : "" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head.map(text => h("th", { scope: "col" }, text)),
      ),
    ),
    h(
      "tbody",
      {},
      rows.map(row => itemRow(row, state, send)),
    ),
  )
}

function status(state) {
  if (state.left) return `${counted(state.left, "new item")} to decide`
  return "All new items are decided"
}

export const render = component("new-items", (state, send) => {
  if (!state.rows) return h("p", { class: "muted" }, "No table of new items is open.")
  const fitting = state.rows.filter(row => !row.unplaced)
  const apart = state.rows.filter(row => row.unplaced)
  return [
    h(
      "div",
      { class: "toolbar" },
      h("p", { class: "remaining", role: "status" }, status(state)),
      h(
        "p",
        { class: "muted small file", title: state.name },
        [state.name, state.accepted ? `${state.accepted.toLocaleString("en")} accepted` : ""]
          .filter(Boolean)
          .join(" · "),
        state.dismissed ? ` · ${state.dismissed.toLocaleString("en")} dismissed ` : null,
        state.dismissed
          ? h(
              "button",
              {
                class: "bare link",
                "data-key": "bring-back",
                title: "Show the dismissed items in the list again",
                onclick: () => send("bring-back"),
              },
              "Bring back",
            )
          : null,
      ),
      h("span", { class: "spacer" }),
      state.changed && state.left
        ? textButton(
            "again",
            "Place again",
            () => send("place-again"),
            "Data or groups have changed since: compute the probabilities again",
          )
        : null,
      state.sure
        ? textButton(
            "accept-sure",
            `Accept all of ${state.percent} % and more (${state.sure.toLocaleString("en")})`,
            () => send("accept-sure"),
            "Add these items to the data and to their groups, in one step",
            true,
          )
        : null,
      textButton(
        "close",
        "Close",
        () => send("close-new-items"),
        "Items that are not accepted are not added",
      ),
    ),
    state.notes.length
      ? h(
          "ul",
          { class: "notes muted small" },
          state.notes.map(note => h("li", {}, note)),
        )
      : null,
    h(
      "div",
      { class: "page", "data-scroll": "new-items", tabindex: 0 },
      fitting.length
        ? table(fitting, ["New item", "Group and probability", "Decision"], state, send)
        : null,
      apart.length
        ? [
            h("h2", { class: "apart" }, "Fit nowhere"),
            h(
              "p",
              { class: "muted small" },
              "These items are unlike all items of the table, or most like items without a group.",
            ),
            table(apart, ["New item", "Best guess", "Decision"], state, send, true),
          ]
        : null,
      state.left > state.rows.length
        ? h(
            "p",
            { class: "muted" },
            `and ${(state.left - state.rows.length).toLocaleString("en")} more`,
          )
        : null,
    ),
  ]
})
