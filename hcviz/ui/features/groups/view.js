// The outline of the groups, as a tree view: the arrows walk it, Enter shows a group in the tree,
// F2 renames it, I lists its items, M moves the selected items into it, and Delete removes it.
// Which groups are folded is a matter of this page only.
const folded = new Set()
let renaming = null // id of the group whose name is being typed
let current = null // id of the group that the Tab key reaches

// The rows without those inside folded groups, each with its parent.
function visibleRows(rows) {
  const found = [],
    around = []
  for (const [at, row] of rows.entries()) {
    while (around.length && around.at(-1).level >= row.level) around.pop()
    const hidden = around.some(each => folded.has(each.id))
    const parent = around.at(-1)?.id ?? null
    around.push(row)
    if (!hidden) found.push({ ...row, parent, hasInside: rows[at + 1]?.level > row.level })
  }
  return found
}

function nameOf(row, send) {
  if (renaming !== row.id) return h("span", { class: "name", title: row.name }, row.name)
  const end = () => {
    renaming = null
    send("repaint")
  }
  const input = h("input", {
    "data-key": `rename-${row.id}`,
    "aria-label": `New name of ${row.name}`,
    maxlength: 200,
    autocomplete: "off",
    value: row.name,
    onkeydown: event => {
      event.stopPropagation()
      if (event.key !== "Enter" && event.key !== "Escape") return
      const name = input.value.trim()
      if (event.key === "Enter" && name && name !== row.name)
        send("rename-group", { id: row.id, name })
      current = row.id
      end()
      root.querySelector(`[data-key="g-${CSS.escape(row.id)}"]`)?.focus()
    },
    onblur: () => {
      if (renaming === row.id) queueMicrotask(end)
    },
    onclick: event => event.stopPropagation(),
  })
  const root = rootOf
  requestAnimationFrame(() => {
    if (renaming !== row.id || input.getRootNode().activeElement === input) return
    input.focus()
    input.select()
  })
  return input
}

let rootOf = null
let dragged = null // items that are dragged from a list

// The items of a group. Each can be dragged onto another group.
function itemList(row, send) {
  return h(
    "ul",
    { class: "items", "aria-label": `Items of ${row.name}` },
    row.items.map(item =>
      h(
        "li",
        {},
        h(
          "button",
          {
            class: "bare",
            draggable: "true",
            "data-key": `item-${row.id}-${item.id}`,
            title: `${item.name}: click to show it, drag it onto another group to move it`,
            onclick: event => {
              event.stopPropagation()
              send("show-item", { item: item.id })
            },
            onkeydown: event => event.stopPropagation(),
            ondragstart: event => {
              dragged = [item.id]
              event.dataTransfer.setData("text/plain", item.name)
              event.dataTransfer.effectAllowed = "move"
            },
            ondragend: () => {
              dragged = null
            },
          },
          item.name,
        ),
      ),
    ),
    row.more ? h("li", { class: "muted" }, `and ${row.more.toLocaleString("en")} more`) : null,
  )
}

// What a row does with items that are dragged over it.
function dropTarget(row, send) {
  const takes = event => dragged && !row.items.some(item => dragged.includes(item.id)) && event
  return {
    ondragover: event => {
      if (!takes(event)) return
      event.preventDefault()
      event.stopPropagation()
      event.currentTarget.classList.add("drop-target")
    },
    ondragleave: event => event.currentTarget.classList.remove("drop-target"),
    ondrop: event => {
      event.currentTarget.classList.remove("drop-target")
      if (!takes(event)) return
      event.preventDefault()
      event.stopPropagation()
      send("move-items", { id: row.id, items: dragged })
      dragged = null
      rootOf.getRootNode().activeElement?.blur() // Enter applies the draft, and shows no item
    },
  }
}

function groupRow(row, state, send, tabbed) {
  const isOpen = !folded.has(row.id)
  const facts = [counted(row.count, "item")]
  if (row.support) facts.push(`support ${row.support}`)
  if (row.accepted) facts.push("accepted")
  if (row.locked) facts.push("locked")
  if (row.change) facts.push(row.change.text)
  if (!row.placed) facts.push("without a place in this tree")
  return h(
    "div",
    {
      class: "group",
      role: "treeitem",
      "data-key": `g-${row.id}`,
      "data-id": row.id,
      tabindex: tabbed ? "0" : "-1",
      style: `--level: ${row.level}`,
      "aria-level": row.level,
      "aria-selected": String(row.selected),
      "aria-expanded": row.hasInside ? String(isOpen) : null,
      "aria-label": `${row.name}, ${facts.join(", ")}`,
      onclick: () => {
        current = row.id
        send("show-group", { id: row.id })
      },
      ondblclick: event => {
        if (event.target.closest("button, input, .twist, .items")) return
        renaming = row.id
        send("repaint")
      },
      onfocus: () => {
        current = row.id
      },
      ...dropTarget(row, send),
    },
    h(
      "div",
      { class: "line" },
      row.hasInside
        ? h("span", {
            class: "toggle",
            "aria-hidden": "true",
            onclick: event => {
              event.stopPropagation()
              if (isOpen) folded.add(row.id)
              else folded.delete(row.id)
              send("repaint")
            },
          })
        : h("span", { class: "no-toggle" }),
      nameOf(row, send),
      row.accepted
        ? h("span", { class: "mark", title: "Accepted: it was checked" }, icon("check"))
        : null,
      row.locked
        ? h("span", { class: "mark lock", title: "Locked: every new tree keeps it" }, icon("lock"))
        : null,
      row.support
        ? h(
            "span",
            { class: "support", title: `${row.support} of the sampled trees have this branch` },
            row.support,
          )
        : null,
      row.placed && row.canMove
        ? h(
            "button",
            {
              class: "bare move",
              "data-key": `move-${row.id}`,
              title: `The selected items belong to ${row.name}`,
              onclick: event => {
                event.stopPropagation()
                send("move-items", { id: row.id, items: [] })
              },
            },
            "Move here",
          )
        : null,
      h(
        "button",
        {
          class: "bare number",
          tabindex: "-1",
          "data-key": `list-${row.id}`,
          "aria-expanded": String(row.listed),
          "aria-label": `List the items of ${row.name}`,
          title: row.listed ? "Hide the items" : `List ${counted(row.count, "item")}`,
          onclick: event => {
            event.stopPropagation()
            send("list-items", { id: row.id })
          },
        },
        row.count.toLocaleString("en"),
      ),
      !row.placed && state.canPlace
        ? h(
            "button",
            {
              class: "bare",
              "data-key": `place-${row.id}`,
              title: `Let ${row.name} have the selected items`,
              onclick: event => {
                event.stopPropagation()
                send("place-group", { id: row.id })
              },
            },
            "Put here",
          )
        : null,
    ),
    row.note ? h("div", { class: "note", title: row.note }, row.note) : null,
    changeLine(row, (act, more) => send(act, more)),
    row.listed ? itemList(row, send) : null,
  )
}

// The keys of a tree view. Other keys are shortcuts of the page.
function onKey(event, rows, send) {
  const at = rows.findIndex(row => row.id === event.target.dataset?.id)
  if (at < 0) return
  const row = rows[at]
  const focus = to => {
    if (!to) return
    current = to.id
    send("repaint")
    rootOf.querySelector(`[data-key="g-${CSS.escape(to.id)}"]`)?.focus()
  }
  const fold = shut => {
    if (shut) folded.add(row.id)
    else folded.delete(row.id)
    send("repaint")
  }
  const isOpen = row.hasInside && !folded.has(row.id)
  if (event.key === "ArrowDown") focus(rows[at + 1])
  else if (event.key === "ArrowUp") focus(rows[at - 1])
  else if (event.key === "Home") focus(rows[0])
  else if (event.key === "End") focus(rows.at(-1))
  else if (event.key === "ArrowRight" && row.hasInside && !isOpen) fold(false)
  else if (event.key === "ArrowRight") isOpen && focus(rows[at + 1])
  else if (event.key === "ArrowLeft" && isOpen) fold(true)
  else if (event.key === "ArrowLeft") focus(rows.find(each => each.id === row.parent))
  else if (event.key === "Enter" || event.key === " ") send("show-group", { id: row.id })
  else if (event.key === "F2") {
    renaming = row.id
    send("repaint")
  } else if (event.key === "i") send("list-items", { id: row.id })
  else if (event.key === "m" && row.canMove) send("move-items", { id: row.id, items: [] })
  else if (event.key === "Delete") {
    current = (rows[at + 1] ?? rows[at - 1])?.id ?? null
    send("remove-group", { id: row.id })
  } else return
  event.preventDefault()
  event.stopPropagation()
}

export const render = component("groups", (state, send, root) => {
  rootOf = root
  const { rows = [], tray = [] } = state
  const placed = visibleRows(rows.map(row => ({ ...row, placed: true })))
  const lost = tray.map(row => ({ ...row, placed: false, parent: null, hasInside: false }))
  const walked = [...placed, ...lost]
  if (!walked.some(row => row.id === current))
    current = (walked.find(row => row.selected) ?? walked[0])?.id ?? null
  // The focus goes to the next group when a group is removed.
  const active = root.getRootNode().activeElement
  if (active?.matches?.(".group") && !walked.some(row => row.id === active.dataset.id))
    queueMicrotask(() => root.querySelector('.group[tabindex="0"]')?.focus())
  const outline = (each, label) =>
    h(
      "div",
      {
        class: "tree",
        role: "tree",
        "aria-label": label,
        "data-scroll": label,
        onkeydown: event => onKey(event, walked, send),
      },
      each.map(row => groupRow(row, state, send, row.id === current)),
    )
  const count = rows.length + tray.length
  return [
    h(
      "div",
      { class: "title" },
      h("h2", {}, "Groups", count ? h("i", {}, ` ${count.toLocaleString("en")}`) : null),
      rows.length
        ? h(
            "select",
            {
              "data-key": "save-groups",
              "aria-label": "Save the groups as a file",
              title: "Save the groups and their items as a file",
              onchange: event => {
                const format = event.target.value
                event.target.value = ""
                if (format) send("save-groups", { format })
              },
            },
            options([["", "Save as…"], ...state.formats], ""),
          )
        : null,
    ),
    count
      ? null
      : h(
          "p",
          { class: "muted small" },
          "Select a branch, press N and type its name. Named groups are listed here.",
        ),
    placed.length ? outline(placed, "Groups") : null,
    state.changed > 1
      ? h(
          "button",
          {
            class: "all-groups",
            "data-key": "accept-groups",
            title: "Let these groups have the items of their branches",
            onclick: () => send("accept-groups"),
          },
          `Accept all ${state.changed} changes`,
        )
      : null,
    state.unlocked > 1
      ? h(
          "button",
          {
            class: "all-groups",
            "data-key": "lock-groups",
            title:
              "Keep these groups in every tree. Groups that contradict other constraints stay " +
              "unlocked and are explained",
            onclick: () => send("lock-groups"),
          },
          icon("lock"),
          `Lock all ${state.unlocked.toLocaleString("en")} groups`,
        )
      : null,
    lost.length
      ? [
          h(
            "h3",
            { title: "No branch of this tree is like these groups. They are kept." },
            "Without a place",
          ),
          outline(lost, "Groups without a place"),
        ]
      : null,
  ]
})
