// The conflict card: constraints that no tree satisfies together, and ways to solve the conflict.
// A few constraints are shown with a button for each item, more as a list.
let refusedOpen = false // the list of the other refused answers is open
let membersOpen = null // id of the conflict whose earlier answers are open
let choicesOpen = false // what to do is open, in a lesson

// An item of a constraint. The tree marks it while the pointer or the focus is on the button.
function chip(leaf, kind, answer, send) {
  const items = kind === "apart" ? { apart: [leaf.id] } : { together: [leaf.id] }
  return h(
    "button",
    {
      class: `chip ${kind}`,
      "data-key": `chip-${answer}-${leaf.id}`,
      title: `Show ${leaf.name} in the tree`,
      onpointerenter: () => send("point-at", items),
      onpointerleave: () => send("point-at"),
      onfocus: () => send("point-at", items),
      onblur: () => send("point-at"),
      onclick: () => send("select", { items: [leaf.id] }),
    },
    leaf.name,
  )
}

function conflictingAnswer(answer, send) {
  return h(
    "div",
    {
      class: `answer ${answer.isNew ? "new" : ""}`,
      role: "group",
      "aria-label": `${answer.isNew ? "The new answer" : "An earlier answer"}: ${answer.sentence}`,
    },
    h(
      "div",
      { class: "author" },
      h("b", {}, answer.isNew ? "New" : "Earlier"),
      ` ${answer.author}`,
    ),
    h(
      "p",
      {},
      answer.group.map(leaf => chip(leaf, "together", answer.id, send)),
      answer.more ? h("i", {}, ` and ${answer.more} more `) : null,
      answer.apart.length === 0
        ? h("span", {}, ` ${answer.clade}`)
        : [
            h("span", {}, " together, apart from "),
            answer.apart.map(leaf => chip(leaf, "apart", answer.id, send)),
            answer.moreApart ? h("i", {}, ` and ${answer.moreApart} more `) : null,
          ],
    ),
  )
}

function conflictButton(send, key, text, name, more, title) {
  return h("button", { "data-key": key, title, onclick: () => send(name, more) }, text)
}

// What to do about a conflict: the buttons of the card, and of the sheet Why.
function conflictChoices(conflict, send) {
  const { waiting } = conflict
  const act = (...rest) => conflictButton(send, ...rest)
  return h(
    "div",
    { class: "choices", role: "group", "aria-label": "What to do" },
    conflict.repairs.map(r =>
      act(`repair-${r.id}`, r.sentence, "resolve", { enable: conflict.id, disable: r.id }),
    ),
    act(
      "dismiss",
      waiting.length ? "Leave it switched off, show the next" : "Leave the new answer switched off",
      "dismiss",
    ),
    waiting.length
      ? act("dismiss-all", `Leave all ${waiting.length + 1} switched off`, "dismiss", { all: true })
      : null,
    conflict.undo ? act("undo-answer", `Undo “${conflict.undo}”`, "undo") : null,
    conflict.softs.map(s =>
      act(`soften-${s.method}`, s.text, "soften", { method: s.method }, s.title),
    ),
  )
}

// In a lesson, what to do is folded: the class reads the answers first, and need not scroll.
function conflictCard(conflict, send, isLesson) {
  const { answers, waiting } = conflict
  return h(
    "div",
    { class: "conflict-card", role: "alert" },
    h("h3", {}, "These answers cannot all be true"),
    waiting.length
      ? h(
          "p",
          { class: "remaining" },
          `This is one of ${waiting.length + 1} refused answers. `,
          waiting.length === 1 ? "The other one comes next." : "The others come next.",
        )
      : null,
    h("p", {}, conflict.sentence),
    answers.length
      ? h(
          "div",
          { class: answers.length === 2 ? "answers two" : "answers" },
          answers.map(a => conflictingAnswer(a, send)),
        )
      : h(
          "details",
          {
            class: "answer-list",
            open: membersOpen === conflict.id,
            ontoggle: event => {
              membersOpen = event.target.open ? conflict.id : null
            },
          },
          h("summary", { "data-key": "members" }, `The ${conflict.members.length} earlier answers`),
          h(
            "ul",
            { class: "steps", "data-scroll": "members" },
            conflict.members.map(m => h("li", {}, m)),
          ),
        ),
    conflictButton(
      send,
      "why-conflict",
      "Show the graph that explains it",
      "graph",
      {},
      "The items that these answers hold together, and the path that excludes the new one",
    ),
    isLesson
      ? h(
          "details",
          {
            class: "answer-list",
            open: choicesOpen,
            ontoggle: event => {
              choicesOpen = event.target.open
            },
          },
          h("summary", { "data-key": "choices" }, "What to do"),
          conflictChoices(conflict, send),
        )
      : conflictChoices(conflict, send),
    waiting.length
      ? h(
          "details",
          {
            class: "answer-list",
            open: refusedOpen,
            ontoggle: event => {
              refusedOpen = event.target.open
            },
          },
          h("summary", {}, `Refused as well (${waiting.length})`),
          h(
            "ul",
            { class: "steps", "data-scroll": "later" },
            waiting.map(each => h("li", {}, each)),
          ),
        )
      : null,
  )
}
