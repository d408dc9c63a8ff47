const settings = { how: false, open: false, given: false }
// A click does not move the focus, so that the keys 1, 2 and 3 keep their meaning.
const still = { onmousedown: event => event.preventDefault() }

function questionCard(state, send) {
  const central = state.question === "central"
  return h(
    "div",
    { class: "card", role: "group", "aria-label": "Compare three" },
    h(
      "div",
      { class: "head" },
      h("p", { class: "ask" }, state.ask),
      h(
        "button",
        {
          class: "bare",
          "data-key": "c-stop",
          "aria-label": "Stop comparing",
          title: "Stop comparing (X)",
          onclick: () => send("stop"),
        },
        icon("close"),
      ),
    ),
    h(
      "ul",
      { class: "choices", "aria-label": "Asked items" },
      state.items.map((item, k) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              ...still,
              class: item.image ? "pictured" : "",
              "data-key": `c-${k + 1}`,
              title: `${item.name} is ${central ? "most central" : "the odd one out"} (${k + 1})`,
              onclick: () => send("choose", { id: item.id }),
            },
            item.image ? h("img", { src: item.image, alt: "" }) : null,
            h("span", {}, item.name),
            h("kbd", { "aria-hidden": "true" }, String(k + 1)),
          ),
        ),
      ),
    ),
    h(
      "div",
      { class: "foot" },
      h(
        "button",
        {
          ...still,
          "data-key": "c-skip",
          title: "Do not know (Space)",
          onclick: () => send("skip"),
        },
        "Skip",
        h("kbd", {}, "Space"),
      ),
      h("span", { class: "muted small", role: "status", title: state.last }, count(state)),
    ),
  )
}

function count(state) {
  return state.answers ? `${counted(state.answers, "answer")} so far` : ""
}

// The answers, the newest first. Each can be shown in the tree, and removed.
function answerList(state, send) {
  const row = each =>
    h(
      "li",
      {},
      h(
        "button",
        {
          class: "sentence",
          "data-key": `c-show-${each.at}`,
          title: "Show the three in the tree",
          onclick: () => send("show", { at: each.at }),
        },
        each.sentence,
      ),
      h(
        "button",
        {
          class: "bare",
          "data-key": `c-back-${each.at}`,
          "aria-label": `Take back: ${each.sentence}`,
          title: "Take back (undo brings it again)",
          onclick: () => send("take-back", { at: each.at }),
        },
        icon("bin"),
      ),
    )
  const more = state.answers - state.given.length
  return h(
    "details",
    {
      class: "answers",
      open: settings.given,
      ontoggle: event => {
        settings.given = event.target.open
      },
    },
    h("summary", { "data-key": "c-given" }, `Your answers (${state.answers.toLocaleString("en")})`),
    h("ul", { "aria-label": "Your answers", "data-scroll": "c-given" }, state.given.map(row)),
    more ? h("p", { class: "muted small" }, `and ${counted(more, "earlier one")}`) : null,
  )
}

export const render = component("compare", (state, send) => {
  const select = (key, text, pairs, chosen) =>
    h(
      "label",
      {},
      h("span", {}, text),
      h(
        "select",
        { "data-key": `c-${key}`, onchange: event => send(key, { value: event.target.value }) },
        options(pairs, chosen),
      ),
    )
  const asking = state.items.length > 0
  const body = [
    asking
      ? questionCard(state, send)
      : h(
          "div",
          { class: "row" },
          h(
            "button",
            {
              ...still,
              class: "wide",
              "data-key": "compare",
              disabled: !state.ready,
              onclick: () => send("compare"),
              title: "Choose the odd one out of three items, or the most central (C)",
            },
            "Answer yourself",
            h("kbd", {}, "C"),
          ),
        ),
    asking || !state.answers
      ? null
      : h("p", { class: "muted small", role: "status", title: state.last }, count(state)),
    state.ignored
      ? h(
          "p",
          { class: "small ignored" },
          state.ignored.sentence,
          " ",
          h(
            "button",
            {
              class: "link",
              "data-key": "c-method",
              onclick: () => send("method", { value: state.ignored.method }),
            },
            `Use ${state.ignored.title.toLowerCase()}`,
          ),
        )
      : null,
    state.answers ? answerList(state, send) : null,
    h(
      "details",
      {
        class: "settings",
        open: settings.how,
        ontoggle: event => {
          settings.how = event.target.open
        },
      },
      h("summary", {}, "What it asks"),
      select("question", "Question", state.questions, state.question),
      select("from", "Three of", state.froms, state.from),
    ),
  ]
  if (state.prominent || asking || state.answers) return [h("h2", {}, "Compare three"), ...body]
  return h(
    "details",
    {
      class: "folded",
      open: settings.open,
      ontoggle: event => {
        settings.open = event.target.open
      },
    },
    h("summary", {}, h("h2", {}, "Compare three")),
    h(
      "p",
      { class: "muted small" },
      "Choose the odd one out of three items. ",
      "Some methods make a tree from such answers.",
    ),
    ...body,
  )
})
