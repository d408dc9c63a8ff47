const ROW = 24
const settings = { open: false }
// A click does not move the focus, so that Enter still applies the draft.
const still = { onmousedown: event => event.preventDefault() }

// The piece of the tree, drawn as in the middle of the page: root at the left, one row an item.
function piece(question) {
  const { path, top, items } = question
  const width = 96
  const d = pathOf(path, ([height, row]) => [4 + (1 - height / top) * (width - 8), row * ROW])
  const box = h("div", { class: "piece-tree", "aria-hidden": "true" })
  const height = items.length * ROW
  box.innerHTML =
    `<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" style="height:${height}px">` +
    `<path d="${d}" fill="none" stroke="currentColor" stroke-width="1.3" ` +
    `vector-effect="non-scaling-stroke"/></svg>`
  return box
}

function names(question, send) {
  const role = question.picks
    ? "is the odd one out"
    : question.repairing
      ? question.group
        ? "it does not belong"
        : "take it into the correction"
      : "show it in the tree"
  return h(
    "ul",
    { class: "piece-names", "aria-label": "Asked items" },
    question.items.map((item, k) =>
      h(
        "li",
        { class: item.mark },
        h(
          "button",
          {
            ...still,
            "data-key": `q-${item.id}`,
            title: `${item.name}: ${role}`,
            "aria-pressed": String(!!item.mark),
            onclick: () => send("pick", { id: item.id }),
          },
          item.image ? h("img", { src: item.image, alt: "" }) : null,
          h("span", {}, item.name),
          (question.picks || question.repairing) && k < 9
            ? h("kbd", { "aria-hidden": "true" }, String(k + 1))
            : null,
        ),
      ),
    ),
  )
}

function card(question, send) {
  const button = (key, text, mark, title, main) =>
    h(
      "button",
      {
        ...still,
        class: main ? "main" : "",
        "data-key": `b-${key}`,
        title,
        onclick: () => send(key),
      },
      text,
      mark ? h("kbd", {}, mark) : null,
    )
  return h(
    "div",
    { class: "card", role: "group", "aria-label": "Question" },
    h(
      "div",
      { class: "head" },
      h(
        "p",
        { class: "ask" },
        question.group
          ? question.repairing
            ? "Click what does not belong, then press Enter."
            : `Are these ${question.items.length} items a group?`
          : question.picks
            ? "Which is the odd one out?"
            : question.whole && !question.repairing
              ? "Is anything wrong in the whole tree?"
              : question.repairing
                ? "Click the two that belong together, then the odd one out."
                : "Is this piece of the tree right?",
      ),
      h(
        "button",
        {
          class: "bare",
          "data-key": "b-stop",
          "aria-label": "Stop asking",
          title: "Stop asking (X)",
          onclick: () => send("stop"),
        },
        icon("close"),
      ),
    ),
    question.whole
      ? null
      : h(
          "div",
          { class: "piece" },
          question.picks ? null : piece(question),
          names(question, send),
        ),
    h("p", { class: "muted small why" }, question.why),
    h(
      "div",
      { class: "answers" },
      question.picks
        ? null
        : button(
            "accept",
            question.group ? "Yes" : "Right",
            "A",
            question.group
              ? "They are a group: every tree keeps them together (A)"
              : "Nothing wrong here: it adds no constraint (A)",
            !question.repairing,
          ),
      question.picks
        ? null
        : h(
            "button",
            {
              ...still,
              class: question.repairing ? "on" : "",
              "data-key": "b-repair",
              "aria-pressed": String(question.repairing),
              title: question.group
                ? "Click the items that do not belong (R)"
                : "Name two that belong together, and the odd one out (R)",
              onclick: () => send("repair"),
            },
            question.group ? "No" : "Correct",
            h("kbd", {}, "R"),
          ),
      question.repairing && question.deniable
        ? button("deny", "I cannot say which", "", "No tree has exactly these as a branch")
        : null,
      button("skip", "Skip", "Space", "I do not know: it is not asked again (Space)"),
      question.picks || question.group
        ? null
        : h(
            "button",
            {
              ...still,
              class: "bare small",
              "data-key": "b-lock",
              title: "Add constraints for all that is shown here (L)",
              onclick: () => send("lock"),
            },
            "Lock all of it",
            h("kbd", {}, "L"),
          ),
    ),
  )
}

export const render = component("question", (state, send) => {
  const [least, most, few, many] = state.limits
  const number = (key, text, value, low, high) =>
    h(
      "label",
      {},
      h("span", {}, text),
      h("input", {
        type: "number",
        min: low,
        max: high,
        step: 1,
        value,
        "data-key": key,
        onchange: event => send(key, { value: event.target.value }),
      }),
    )
  return [
    h("h2", {}, "Let the tree ask"),
    state.question
      ? card(state.question, send)
      : h(
          "div",
          { class: "row" },
          h(
            "button",
            {
              class: "wide",
              "data-key": "ask",
              ...still,
              disabled: !state.ready || state.waiting,
              onclick: () => send("ask"),
              title: "Show a piece of the tree that is worth a look (Q)",
            },
            state.waiting ? "The next question comes when the run has finished" : "Ask me",
            state.waiting ? null : h("kbd", {}, "Q"),
          ),
        ),
    h(
      "details",
      {
        class: "settings",
        open: settings.open,
        ontoggle: event => {
          settings.open = event.target.open
        },
      },
      h("summary", {}, "How it chooses"),
      h(
        "label",
        {},
        h("span", {}, "Questions"),
        h(
          "select",
          {
            "data-key": "strategy",
            onchange: event => send("strategy", { value: event.target.value }),
          },
          options(state.strategies, state.strategy),
        ),
      ),
      state.sized ? number("size", "Items in a piece", state.size, least, most) : null,
      state.sized
        ? number("candidates", "Pieces to choose from", state.candidates, few, many)
        : null,
      state.varied
        ? h(
            "label",
            { title: "Where the number of branches between two items is counted" },
            h("span", {}, "Distances within"),
            h(
              "select",
              {
                "data-key": "induced",
                onchange: event => send("induced", { value: event.target.value }),
              },
              options(
                [
                  ["tree", "the whole tree"],
                  ["piece", "the piece alone"],
                ],
                state.induced ? "piece" : "tree",
              ),
            ),
          )
        : null,
      h("p", { class: "muted small" }, state.about),
    ),
  ]
})
