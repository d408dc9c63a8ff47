let noteOpen = null
let laterOpen = false

function draftCard(draft, send) {
  return h("div", { class: "draft", role: "group", "aria-label": "The constraint you are stating" },
    h("p", { class: "says" }, draft.sentence),
    ...draft.verdicts.map(v => h("div", { class: `verdict ${v.kind}` }, h("b", {}, v.kind), ": ", v.sentence)),
    ...draft.beliefs.map(v => h("div", { class: `belief ${v.kind}` }, h("b", {}, v.kind), ": ", v.sentence)),
    h("div", { class: "row" },
      h("button", { type: "button", class: "main", "data-key": "apply", disabled: !draft.ready, onclick: () => send("apply") }, "Apply ", h("kbd", {}, "Enter")),
      h("button", { type: "button", "data-key": "clear", onclick: () => send("clear") }, "Clear ", h("kbd", {}, "Esc"))))
}

function conflictCard(conflict, send) {
  const later = conflict.waiting
  return h("div", { class: "clash", role: "alert" },
    h("h3", {}, "These answers cannot all be true"),
    later.length ? h("p", { class: "turn" }, `This is one of ${later.length + 1} refused answers. The others have their turn.`) : null,
    h("p", {}, conflict.sentence),
    conflict.members.length > 2  // fewer are named by the sentence
      ? h("ul", { class: "steps" }, conflict.members.map(m => h("li", {}, m))) : null,
    ...conflict.repairs.map(r => h("button", { type: "button", "data-key": `repair-${r.id}`, onclick: () => send("resolve", { enable: conflict.id, disable: r.id }) },
      r.sentence)),
    h("button", { type: "button", "data-key": "dismiss", onclick: () => send("dismiss") },
      later.length ? "Leave it switched off, show the next" : "Leave the new answer switched off"),
    later.length ? h("button", { type: "button", "data-key": "dismiss-all", onclick: () => send("dismiss", { all: true }) }, `Leave all ${later.length + 1} switched off`) : null,
    later.length ? h("details", { class: "later", open: laterOpen, ontoggle: event => { laterOpen = event.target.open } }, h("summary", {}, `Refused as well (${later.length})`),
      h("ul", { class: "steps", "data-scroll": "later" }, later.map(each => h("li", {}, each)))) : null)
}

function row(item, send) {
  const noting = noteOpen === item.id
  return h("li", { class: `${item.enabled ? "" : "off"} ${item.state === "conflict" ? "conflict" : ""}`, "data-id": item.id },
    h("div", { class: "top" },
      h("input", { type: "checkbox", checked: item.enabled, "data-key": `on-${item.id}`, "aria-label": `Use: ${item.sentence}`,
        title: item.enabled ? "Switch off" : "Switch on", onchange: event => send("enable", { id: item.id, value: event.target.checked }) }),
      h("button", { type: "button", class: "sentence", "data-key": `show-${item.id}`, title: "Show its items in the tree", onclick: () => send("show", { id: item.id }) }, item.sentence)),
    h("div", { class: "foot" }, h("span", { class: `tag ${item.state}` }, item.state), item.author, item.weight !== 1 ? ` · weight ${item.weight}` : "",
      h("span", { class: "gap" }),
      h("button", { type: "button", class: "bare", "aria-label": "Note", title: "Note", "data-key": `note-${item.id}`,
        onclick: event => { noteOpen = noting ? null : item.id; send("repaint") } }, icon("note")),
      h("button", { type: "button", class: "bare", "aria-label": "Delete", title: "Delete (undo brings it back)", "data-key": `del-${item.id}`, onclick: () => send("delete", { id: item.id }) }, icon("bin"))),
    noting || item.note
      ? h("input", { class: "note", "data-key": `text-${item.id}`, "aria-label": "Note text", placeholder: "Why? A note to yourself and others", value: item.note,
          onchange: event => { noteOpen = null; send("note", { id: item.id, value: event.target.value }) } }) : null)
}

export const render = component("constraints", (state, send) => {
  const g = (mode, key, text, title) => h("button", { type: "button", "data-key": mode, class: state.draft?.mode === mode ? "on" : "", title,
    disabled: !state.ready, "aria-pressed": String(state.draft?.mode === mode), onclick: () => send("gesture", { mode }) }, text, h("kbd", {}, key))
  return [
    h("h2", {}, "Say what belongs together"),
    h("div", { class: "gestures" },
      g("together", "T", "Together", "Click the items (or subtrees) that belong together (T)"),
      g("odd", "O", "Odd one out", "Click what stays apart from the group (O)"),
      g("eject", "E", "Eject", "Select a subtree, then click the item in it that does not belong (E)")),
    state.draft ? draftCard(state.draft, send) : null,
    h("h2", {}, state.items.length ? `Constraints (${state.items.filter(i => i.enabled).length} of ${state.items.length} in use)` : "Constraints"),
    state.ignored ? h("div", { class: "warn" }, state.ignored) : null,
    state.conflict ? conflictCard(state.conflict, send) : null,
    state.items.length
      ? h("ul", { "aria-label": "Constraints" }, state.items.map(item => row(item, send)))
      : h("div", { class: "quiet small" }, h("p", {}, "None yet. To correct the tree:"),
          h("ol", { class: "steps" }, h("li", {}, "click a subtree in the tree;"), h("li", {}, "press T: its items are one group;"),
            h("li", {}, "press O and click the item that stays apart;"), h("li", {}, "Enter: the tree is rebuilt around it."))),
  ]
})
