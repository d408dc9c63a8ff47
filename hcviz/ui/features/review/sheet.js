const STATUS = {
  kept: "Same items",
  renamed: "Renamed",
  changed: "Changed",
  split: "Split",
  merged: "Merged",
  new: "New",
  gone: "Gone",
}

const DECIDED = { taken: "Taken over", kept: "Kept yours" }

function offer(state, send) {
  const { name, common, unknown, unknownCount, missing, missingCount, replaces, mine } = state.offer
  return h(
    "div",
    { class: "offer", role: "alertdialog", "aria-label": "Other items" },
    h("h2", {}, `${name} is about partly other items`),
    unknownCount
      ? h("p", {}, h("b", {}, `Only in the file (${unknownCount.toLocaleString("en")}): `), unknown)
      : null,
    missingCount
      ? h("p", {}, h("b", {}, `Only here (${missingCount.toLocaleString("en")}): `), missing)
      : null,
    h(
      "p",
      { class: "muted" },
      replaces
        ? `${mine ? "Its groups replace yours; undo brings yours back. " : ""}` +
            "Items that the file lacks are in none of its groups."
        : "Items that the file lacks stay in your groups.",
    ),
    h(
      "div",
      { class: "buttons" },
      replaces
        ? textButton(
            "replace",
            `Take the groups with the ${common}`,
            () => send("use-groups"),
            "The other items are left out",
            true,
          )
        : null,
      replaces && !mine
        ? null
        : textButton(
            "common",
            replaces ? "Review group by group" : `Go on with the ${common}`,
            () => send("use-common-items"),
            "Compare the groups by the common items",
            !replaces,
          ),
      textButton("close", "Cancel", () => send("close-review"), "Do not open the file"),
    ),
  )
}

function side(group, row, send, mine) {
  if (!group) return h("td", { class: "none" }, "–")
  return h(
    "td",
    { style: `--level: ${group.level}` },
    h(
      "button",
      {
        class: "bare name",
        "data-key": `${mine ? "first" : "second"}-${row.row}`,
        title: `Show ${group.name} in the tree`,
        onclick: () => send("show-row", { row: row.row, mine }),
      },
      group.name,
    ),
    h("span", { class: "number", title: counted(group.count, "item") }, group.count),
  )
}

function decision(row, send) {
  if (row.same) return h("td", {}, h("span", { class: "muted" }, "Nothing to decide"))
  const name = (row.second ?? row.first).name
  const decided = row.decided
    ? h("span", { class: `decided ${row.decided}` }, icon("check"), DECIDED[row.decided])
    : null
  const take = row.second ? `Use this version of ${name}` : `Remove the group ${name}`
  return h(
    "td",
    { class: "buttons" },
    decided,
    row.decided === "taken"
      ? null
      : textButton(
          `take-${row.row}`,
          "Take over",
          () => send("take-over", { row: row.row }),
          take,
          row.open,
        ),
    row.decided
      ? null
      : textButton(
          `keep-${row.row}`,
          "Keep mine",
          () => send("keep-mine", { row: row.row }),
          "Leave your groups as they are",
        ),
  )
}

export const render = component("review", (state, send) => {
  if (state.offer) return offer(state, send)
  if (!state.rows) return h("p", { class: "muted" }, "No second version is open.")
  const head = ["Your groups", "What differs", state.name, "Items", "Decision"]
  return [
    h(
      "div",
      { class: "toolbar" },
      h(
        "p",
        { class: "remaining", role: "status" },
        state.left ? `${counted(state.left, "group")} left to decide` : "All groups are decided",
      ),
      h(
        "p",
        { class: "muted small counts" },
        state.counts
          .map(([status, count]) => `${count} ${STATUS[status].toLowerCase()}`)
          .join(", "),
        state.lacking ? `. ${counted(state.lacking, "item")} not in the file` : "",
      ),
      textButton(
        "beside",
        "Side by side",
        () => send("side-by-side"),
        "Draw both versions beside each other, with a line for each item",
      ),
      state.left > 1
        ? textButton(
            "take-rest",
            "Take over the rest",
            () => send("take-rest"),
            "Take over all groups that are not decided, in one step",
          )
        : null,
      textButton(
        "close",
        "Close the review",
        () => send("close-review"),
        "Your groups stay as they are now. Undo opens the review again",
      ),
    ),
    h(
      "div",
      { class: "page", "data-scroll": "review", tabindex: 0 },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map(text => h("th", { scope: "col", title: text }, text)),
          ),
        ),
        h(
          "tbody",
          {},
          state.rows.map(row =>
            h(
              "tr",
              { class: row.open ? "open" : "done", "data-row": row.row },
              side(row.first, row, send, true),
              h("td", {}, h("span", { class: `status ${row.status}` }, STATUS[row.status])),
              side(row.second, row, send, false),
              h(
                "td",
                { class: "items", title: row.title },
                row.items,
                row.note ? h("div", { class: "muted", title: row.note }, row.note) : null,
              ),
              decision(row, send),
            ),
          ),
        ),
      ),
      state.rows.length ? null : h("p", { class: "muted" }, "Neither version has groups."),
      state.moved.length
        ? [
            h("h2", {}, `${counted(state.movedCount, "item")} moved`),
            h(
              "ul",
              { class: "moved" },
              state.moved.map(([item, from, to]) =>
                h("li", {}, h("b", {}, item), ` ${from || "no group"} → ${to || "no group"}`),
              ),
              state.movedCount > state.moved.length
                ? h(
                    "li",
                    { class: "muted" },
                    `and ${(state.movedCount - state.moved.length).toLocaleString("en")} more`,
                  )
                : null,
            ),
          ]
        : null,
    ),
  ]
})
