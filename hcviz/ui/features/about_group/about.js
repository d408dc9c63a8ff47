// What makes the selected group, or what is known of the selected item. The inspector uses this
// file. With what a group is compared is a matter of this page only.
let comparedWith = "rest"

const itemChips = (title, items, send) =>
  items.length
    ? h(
        "p",
        { class: "examples" },
        h("span", {}, title),
        h(
          "span",
          { class: "item-list" },
          items.map(each =>
            h(
              "button",
              {
                class: each.away ? "misplaced" : null,
                title: each.title,
                "data-key": `fit-${each.id}`,
                onclick: () => send("pick", { id: each.id }),
              },
              each.name,
              each.away ? h("i", {}, each.away) : null,
            ),
          ),
        ),
      )
    : null

function contrastTable(side) {
  if (!side.bars.length)
    return h("p", { class: "muted small" }, `No feature differs clearly from ${side.name}.`)
  return h(
    "table",
    { class: "contrasts" },
    h(
      "tr",
      {},
      h("th", { scope: "col" }, "Feature"),
      h("th", { scope: "col" }, h("span", { class: "sr-only" }, "Difference")),
      h("th", { scope: "col" }, "Here"),
      h("th", { scope: "col" }, side.short),
    ),
    side.bars.map(bar =>
      h(
        "tr",
        { title: bar.title },
        h("th", { scope: "row" }, bar.name),
        h(
          "td",
          { class: "bar" },
          h("i", {
            class: bar.length < 0 ? "less" : "more",
            style: `width: ${(50 * Math.abs(bar.length)).toFixed(1)}%`,
          }),
          h("span", { class: "sr-only" }, bar.length < 0 ? "less" : "more"),
        ),
        h("td", {}, bar.inside),
        h("td", {}, bar.outside),
      ),
    ),
  )
}

function aboutGroup(about, group, send) {
  const names = group?.suggestions ?? []
  const side = about.sides.find(each => each.key === comparedWith) ?? about.sides[0]
  return [
    h("h2", {}, "What makes this group"),
    about.words ? h("p", { class: "small" }, about.words) : null,
    about.sides.length > 1
      ? h(
          "div",
          { class: "segmented", role: "group", "aria-label": "Compare with" },
          about.sides.map(each =>
            h(
              "button",
              {
                "data-key": `compare-${each.key}`,
                class: each === side ? "on" : null,
                "aria-pressed": String(each === side),
                title: each.title,
                onclick: () => {
                  comparedWith = each.key
                  send("repaint")
                },
              },
              each.key === "rest" ? "All others" : each.short,
            ),
          ),
        )
      : null,
    side ? contrastTable(side) : null,
    about.facts.length ? facts(about.facts) : null,
    itemChips("Typical", about.typical, send),
    itemChips("Least fitting", about.least, send),
    names.length
      ? [
          h("h3", {}, "Names that fit"),
          h(
            "ul",
            { class: "suggestions", "aria-label": "Names that fit" },
            names.map(each =>
              h("li", {}, suggestion(each, "reason", group, send), h("span", {}, each.why)),
            ),
          ),
        ]
      : null,
  ]
}

function aboutItem(about, send) {
  return [
    about.groups.length || about.groupsNote
      ? [
          h("h2", { title: "Share of the sampled trees that put the item there" }, "Its group"),
          about.groupsNote ? h("p", { class: "muted small" }, about.groupsNote) : null,
          h(
            "table",
            { class: "shares" },
            about.groups.map(each =>
              h(
                "tr",
                {},
                h("th", { scope: "row" }, each.name),
                h("td", { class: "share" }, h("i", { style: `width: ${100 * each.share}%` })),
                h("td", {}, each.text),
              ),
            ),
          ),
        ]
      : null,
    about.nearest.length
      ? [
          h("h2", {}, "Most similar items"),
          h(
            "ul",
            { class: "nearest" },
            about.nearest.map(each =>
              h(
                "li",
                {},
                h(
                  "button",
                  {
                    "data-key": `near-${each.id}`,
                    title: `Select ${each.name}`,
                    onclick: () => send("pick", { id: each.id }),
                  },
                  each.name,
                ),
                h("span", {}, each.text),
              ),
            ),
          ),
        ]
      : null,
    about.row.length
      ? [
          h("h2", {}, "Its row"),
          h(
            "div",
            { class: "row-of-item", tabindex: "0", "data-scroll": "row", "aria-label": "Its row" },
            facts(about.row),
            about.more ? h("p", { class: "muted small" }, `and ${about.more} more columns`) : null,
          ),
        ]
      : null,
  ]
}

function aboutSelection(about, group, send) {
  if (!about) return null
  return h(
    "div",
    { class: "about" },
    about.sentence
      ? [
          h("h2", {}, about.kind === "item" ? "About this item" : "What makes this group"),
          h("p", { class: "muted small", role: "status" }, about.sentence),
        ]
      : about.kind === "item"
        ? aboutItem(about, send)
        : aboutGroup(about, group, send),
  )
}
