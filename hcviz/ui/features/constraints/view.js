let noteOpen = null
const inWords = value => value.toLocaleString("en")
const foldOpen = new Set()

// What the page calls the state of an answer, and what that means.
const STATES = {
  satisfied: ["satisfied", "True in the tree shown"],
  violated: ["violated", "Not true in the tree shown"],
  pending: ["being applied…", "The run in progress makes the tree again with this answer"],
  implied: ["implied", "Follows from the answers before it"],
  conflict: ["conflict", "Contradicts earlier answers, so it is switched off"],
  disabled: ["disabled", "Switched off: the tree need not follow it"],
}

function stateTag(state, count) {
  const [word, title] = STATES[state]
  const text = count === undefined ? word : `${inWords(count)} ${word}`
  return h("span", { class: `tag ${state}`, title }, text)
}

function draftCard(draft, ignored, send) {
  return h(
    "div",
    { class: "draft", role: "group", "aria-label": "The constraint you are stating" },
    h("p", { class: "statement" }, draft.sentence),
    picked("together", "Together", draft.together, send),
    picked("apart", "Odd one out", draft.apart, send),
    draft.assessment
      ? h(
          "div",
          { class: `assessment ${draft.assessment.kind}` },
          h("b", {}, draft.assessment.kind),
          `: ${draft.assessment.sentence}`,
        )
      : null,
    ignored ? ignoredCard(ignored, send) : null,
    ...draft.sampleShares.map(v =>
      h("div", { class: `sample-share ${v.kind}` }, h("b", {}, v.kind), ": ", v.sentence),
    ),
    h(
      "div",
      { class: "row" },
      h(
        "button",
        {
          class: "main",
          "data-key": "apply",
          disabled: !draft.ready,
          onclick: () => send("apply"),
        },
        "Apply ",
        h("kbd", {}, "Enter"),
      ),
      h(
        "button",
        { "data-key": "clear", onclick: () => send("clear") },
        "Clear ",
        h("kbd", {}, "Esc"),
      ),
    ),
  )
}

// The method in use ignores constraints: the button switches to one that keeps them.
function ignoredCard(ignored, send) {
  return h(
    "div",
    { class: "warn" },
    ignored.sentence,
    ignored.method
      ? h(
          "button",
          {
            "data-key": "keep-constraints",
            onclick: () => send("keep-constraints"),
          },
          ignored.text,
        )
      : null,
  )
}

function row(item, send) {
  const noting = noteOpen === item.id
  return h(
    "li",
    {
      class: `${item.enabled ? "" : "off"} ${item.state === "conflict" ? "conflict" : ""}`,
      "data-id": item.id,
    },
    h(
      "div",
      { class: "top" },
      h("input", {
        type: "checkbox",
        checked: item.enabled,
        "data-key": `on-${item.id}`,
        "aria-label": `Use: ${item.sentence}`,
        title: item.enabled ? "Switch off" : "Switch on",
        onchange: event => send("enable", { id: item.id, value: event.target.checked }),
      }),
      h(
        "button",
        {
          class: "sentence",
          "data-key": `show-${item.id}`,
          title: "Show its items in the tree",
          onclick: () => send("show", { id: item.id }),
        },
        item.sentence,
      ),
    ),
    h(
      "div",
      { class: "foot" },
      stateTag(item.state),
      item.author,
      item.weight !== 1 ? ` · weight ${item.weight}` : "",
      h("span", { class: "spacer" }),
      h(
        "button",
        {
          class: "bare",
          "aria-label": "Note",
          title: "Note",
          "data-key": `note-${item.id}`,
          onclick: () => {
            noteOpen = noting ? null : item.id
            send("repaint")
          },
        },
        icon("note"),
      ),
      h(
        "button",
        {
          class: "bare",
          "aria-label": "Delete",
          title: "Delete (undo brings it back)",
          "data-key": `del-${item.id}`,
          onclick: () => send("delete", { id: item.id }),
        },
        icon("bin"),
      ),
    ),
    item.reason ? h("p", { class: "muted small" }, item.reason) : null,
    noting || item.note
      ? h(
          "div",
          { class: "more" },
          h("input", {
            class: "note",
            "data-key": `text-${item.id}`,
            "aria-label": "Note text",
            placeholder: "Why? A note to yourself and others",
            value: item.note,
            onkeydown: event => {
              if (event.key !== "Enter" && event.key !== "Escape") return
              if (event.key === "Escape") {
                event.stopPropagation()
                event.target.value = item.note
                event.target.blur()
              }
              noteOpen = null
              setTimeout(() => send("repaint")) // the field first sends what was typed
            },
            onchange: event => send("note", { id: item.id, value: event.target.value }),
          }),
          noting
            ? h(
                "label",
                { class: "weight", title: "Counts for methods that weigh answers" },
                "Weight ",
                h("input", {
                  type: "number",
                  min: 0,
                  step: "any",
                  "data-key": `weight-${item.id}`,
                  value: item.weight,
                  onchange: event => send("weight", { id: item.id, value: event.target.value }),
                }),
              )
            : null,
        )
      : null,
  )
}

// Many constraints of one author, such as a reference tree, are one line that opens.
function fold(group, send) {
  return h(
    "li",
    { class: "fold" },
    h(
      "details",
      {
        open: foldOpen.has(group.author),
        ontoggle: event => {
          foldOpen[event.target.open ? "add" : "delete"](group.author)
        },
      },
      h(
        "summary",
        { "data-key": `fold-${group.author}` },
        h("b", {}, group.author),
        ` ${group.count.toLocaleString("en")} answers `,
        group.states.map(([state, count]) => stateTag(state, count)),
      ),
      h(
        "ul",
        { "aria-label": `Answers of ${group.author}`, "data-scroll": `fold-${group.author}` },
        group.rows.map(item => row(item, send)),
      ),
      group.more
        ? h("p", { class: "muted small" }, `and ${group.more.toLocaleString("en")} more`)
        : null,
    ),
  )
}

function pair(p, send) {
  return h(
    "div",
    { class: "pair" },
    h(
      "div",
      {},
      h("b", {}, `${p.first} and ${p.second}`),
      p.share === null ? null : h("span", { class: "share" }, `${p.share} agree`),
    ),
    h("p", { class: "muted small" }, p.sentence),
    p.disagreements.length
      ? h(
          "ul",
          { "aria-label": `Where ${p.first} and ${p.second} contradict each other` },
          p.disagreements.map(c =>
            h(
              "li",
              {},
              h(
                "button",
                {
                  class: "sentence",
                  "data-key": `disagreement-${p.first}-${p.second}-${c.id}`,
                  title: "Show its items in the tree",
                  onclick: () => send("show", { id: c.id }),
                },
                c.sentence,
              ),
              h("p", { class: "muted small" }, "against: ", c.with.join("; ")),
            ),
          ),
          p.more ? h("li", { class: "muted small" }, `and ${p.more} more`) : null,
        )
      : null,
  )
}

function people(found, send) {
  return [
    h("h2", {}, "Experts"),
    h(
      "div",
      { class: "experts", role: "group", "aria-label": "Experts" },
      found.rows.map(e =>
        h(
          "div",
          { class: "expert", "data-name": e.name },
          h("input", {
            type: "checkbox",
            checked: e.on,
            disabled: !e.answers,
            "data-key": `expert-${e.name}`,
            "aria-label": `Use the answers of ${e.name}`,
            title: e.on ? "Switch all off" : "Switch them on again",
            onchange: event => send("expert", { name: e.name, value: event.target.checked }),
          }),
          h(
            "span",
            { class: "name", title: e.name },
            e.name,
            e.you ? h("i", {}, " new answers") : null,
          ),
          h(
            "span",
            { class: "muted small" },
            `${e.used.toLocaleString("en")} of ${e.answers.toLocaleString("en")}`,
          ),
          h(
            "label",
            { class: "weight", title: "How much their answers count, for methods that weigh them" },
            h("span", { "aria-hidden": "true" }, "×"),
            h("input", {
              type: "number",
              min: 0,
              step: "any",
              "aria-label": `Weight of ${e.name}`,
              "data-key": `weight-of-${e.name}`,
              value: e.weight,
              onchange: event => send("expert-weight", { name: e.name, value: event.target.value }),
            }),
          ),
        ),
      ),
      found.weighs
        ? null
        : h("p", { class: "muted small" }, "Weights count for methods that weigh answers."),
    ),
    found.pairs.map(p => pair(p, send)),
  ]
}

export const render = component("constraints", (state, send) => {
  const g = (mode, key, text, title) =>
    h(
      "button",
      {
        "data-key": mode,
        class: state.draft?.mode === mode ? "on" : "",
        title,
        disabled: !state.ready,
        "aria-pressed": String(state.draft?.mode === mode),
        onclick: () => send("gesture", { mode }),
      },
      text,
      h("kbd", {}, key),
    )
  const gestures = [
    h("h2", {}, "Say what belongs together"),
    h(
      "div",
      { class: "gestures" },
      h(
        "button",
        {
          "data-key": "g-group",
          title:
            "The selected items are a group: every new tree keeps them as one branch (G). " +
            "The same as Locked in the panel at the right",
          disabled: !state.ready,
          onclick: () => send("group"),
        },
        "Group",
        h("kbd", {}, "G"),
      ),
      h(
        "button",
        {
          "data-key": "g-not-group",
          title: state.not_group_refusal || "No tree has exactly the selected items as a branch",
          disabled: !state.ready || !!state.not_group_refusal,
          onclick: () => send("not-group"),
        },
        "Not a group",
      ),
      g("together", "T", "Together", "Click the items (or subtrees) that belong together (T)"),
      g("odd", "O", "Odd one out", "Click what stays apart from the group (O)"),
      g(
        "eject",
        "E",
        "Eject",
        "Select a subtree, then click the item in it that does not belong (E)",
      ),
    ),
  ]
  // A lesson that is played talks about the answers, so their list is first.
  return [
    ...(state.playing ? [] : gestures),
    state.draft ? draftCard(state.draft, state.ignored, send) : null,
    h(
      "h2",
      {},
      state.count
        ? `Constraints (${inWords(state.used)} of ${inWords(state.count)} in use)`
        : "Constraints",
    ),
    state.ignored && !state.draft ? ignoredCard(state.ignored, send) : null,
    state.conflict ? conflictCard(state.conflict, send, state.playing) : null,
    state.count
      ? h(
          "ul",
          { "aria-label": "Constraints" },
          state.folds.map(group => fold(group, send)),
          state.items.map(item => row(item, send)),
        )
      : h(
          "div",
          { class: "muted small" },
          h("p", {}, "None yet. To correct the tree:"),
          h(
            "ol",
            { class: "steps" },
            h("li", {}, "click a branch of the tree;"),
            h("li", {}, "press T: its items belong together;"),
            h("li", {}, "press O and click the item that stays apart;"),
            h("li", {}, "Enter: the tree is rebuilt around it."),
          ),
          h("p", {}, "Or drag a name onto the branch where it belongs, then press Enter."),
        ),
    ...(state.playing ? gestures : []),
    state.experts ? people(state.experts, send) : null,
    h(
      "label",
      {
        class: "your-name",
        title: "Your constraints get this name, so that the list shows who stated what",
      },
      "You are ",
      h("input", {
        type: "text",
        maxlength: 60,
        "data-key": "author",
        "aria-label": "You are",
        value: state.author,
        onchange: event => send("author", { value: event.target.value }),
      }),
    ),
  ]
})
