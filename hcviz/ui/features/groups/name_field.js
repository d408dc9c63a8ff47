// The field that names the selected items, and the properties of their group. The inspector and the
// panel of groups use this file.

// The items that a group gained and lost, with a button that accepts them.
function changeLine(group, send) {
  return group.change
    ? h(
        "div",
        { class: "change" },
        h("span", { title: group.change.title }, group.change.text),
        h(
          "button",
          {
            "data-key": `accept-${group.id}`,
            title: "Let the group have the items of its branch",
            "aria-label": `Accept for ${group.name}: ${group.change.text}`,
            onclick: event => {
              event.stopPropagation() // in the panel, a click on the row shows the group
              send("accept-group", { id: group.id })
            },
          },
          "Accept",
        ),
      )
    : null
}

// A suggested name. A click names the selected items, or renames their group.
function suggestion(each, keyPrefix, group, send) {
  return h(
    "button",
    {
      "data-key": `${keyPrefix}-${each.name}`,
      title: `Name it ${each.name}: ${each.why}`,
      onclick: () => send("name-group", { name: each.name, key: group.key }),
    },
    each.name,
  )
}

// A name is sent with Enter or the button. Leaving the field sends no new name, since another
// click may have selected other items.
function nameField(group, send) {
  if (!group) return null
  const commit = input => {
    const name = input.value.trim()
    if (name && name !== group.name) send("name-group", { name, key: group.key })
  }
  const input = h("input", {
    "data-key": group.id ? `name-of-${group.id}` : `name-${group.key}`,
    class: "group-name",
    "aria-label": group.id ? "Name of the group" : "Name this group",
    placeholder: "Name this group (N)",
    maxlength: 200,
    autocomplete: "off",
    value: group.name,
    onkeydown: event => {
      if (event.key === "Enter") commit(event.target)
      if (event.key === "Escape") {
        event.stopPropagation()
        event.target.value = group.name
        event.target.blur()
      }
    },
    oninput: event => {
      button.disabled = !event.target.value.trim() || event.target.value.trim() === group.name
    },
  })
  const button = h(
    "button",
    {
      "data-key": "name-button",
      title: "A name alone does not keep the group together: lock it for that",
      disabled: true,
      onclick: () => commit(input),
    },
    group.id ? "Rename" : "Name",
  )
  const lock = group.canLock
    ? h(
        "label",
        {
          class: "lock",
          title:
            "An answer in the list at the left, as of the button Group (G). Undo takes it back",
        },
        h("input", {
          type: "checkbox",
          "data-key": `lock-${group.key}`,
          checked: group.locked,
          onchange: event => send("lock-group", { locked: event.target.checked, key: group.key }),
        }),
        "Locked: every new tree keeps this group (G)",
      )
    : null
  const property = (act, label, value, placeholder) => [
    h("span", {}, label),
    h("input", {
      "data-key": `${act}-${group.id}`,
      "aria-label": `${label} of ${group.name}`,
      placeholder,
      value,
      onkeydown: event => {
        if (event.key === "Escape") {
          event.stopPropagation()
          event.target.value = value
          event.target.blur()
        }
      },
      onchange: event => send(act, { id: group.id, value: event.target.value }),
    }),
  ]
  return h(
    "div",
    { class: "naming" },
    group.parent
      ? h("p", { class: "path", title: "The groups around it" }, `in ${group.parent}`)
      : null,
    h("div", { class: "field" }, input, button),
    // A group that "Name these clusters" made has no name of its own yet (taxonomy/drafting.py).
    (!group.id || /^Group \d+$/.test(group.name)) && group.suggestions.length
      ? h(
          "div",
          { class: "suggested", role: "group", "aria-label": "Suggested names" },
          group.suggestions.map(each => suggestion(each, "suggested", group, send)),
        )
      : null,
    lock,
    group.id
      ? [
          changeLine(group, send),
          h(
            "div",
            { class: "more" },
            property("group-note", "Note", group.note, "Why these belong together"),
            property("group-alternatives", "Also called", group.alternatives, "Other names; …"),
            h(
              "div",
              { class: "state" },
              h(
                "label",
                { title: "A mark for you and others. It changes nothing in the tree" },
                h("input", {
                  type: "checkbox",
                  "data-key": `status-${group.id}`,
                  checked: group.accepted,
                  onchange: event =>
                    send("group-status", { id: group.id, accepted: event.target.checked }),
                }),
                "Accepted: you have checked it",
              ),
              h(
                "button",
                {
                  class: "bare",
                  "data-key": `remove-${group.id}`,
                  title: "Remove the name. The items stay (undo brings it back)",
                  onclick: () => send("remove-group", { id: group.id }),
                },
                icon("bin"),
                "Remove",
              ),
            ),
          ),
        ]
      : null,
  )
}
