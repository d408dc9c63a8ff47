const PHASES = { predict: "Predict", reveal: "Reveal", discuss: "Discuss" }

// The choices. The class' prediction is marked before the reveal, and the right one after it.
function choiceList(state, send) {
  if (!state.choices.length || (state.phase === "discuss" && !state.reveal)) return null
  const asks = state.phase === "predict"
  return h(
    "div",
    { class: "choices", role: "group", "aria-label": "Choices" },
    state.choices.map((choice, k) => {
      const kind = choice.right ? "right" : choice.right === false && choice.voted ? "wrong" : ""
      const verdict = choice.right ? ", right" : kind ? ", wrong" : ""
      return h(
        "button",
        {
          "data-key": `vote-${k}`,
          class: [choice.voted ? "voted" : "", kind].join(" ").trim(),
          "aria-pressed": String(choice.voted),
          "aria-label": `${choice.text}${verdict}`,
          disabled: !asks,
          title: asks ? "The class predicts this" : null,
          onclick: () => send("vote", { choice: k }),
        },
        h("b", { "aria-hidden": "true" }, "ABCDEFGHI"[k] ?? ""),
        choice.text,
        choice.right ? icon("check") : null,
        choice.voted && !asks ? h("span", { class: "yours" }, "your prediction") : null,
      )
    }),
  )
}

function phaseList(state) {
  if (state.phases.length < 2) return null
  return h(
    "ol",
    { class: "phases", "aria-label": "Phases of the step" },
    state.phases
      .filter(phase => phase in PHASES)
      .map(phase =>
        h(
          "li",
          {
            class: phase === state.phase ? "now" : "",
            "aria-current": phase === state.phase ? "step" : null,
          },
          PHASES[phase],
        ),
      ),
  )
}

export const render = component("player", (state, send) => {
  if (!state.on) return null
  const button = (act, text, title, more = {}) =>
    h("button", { "data-key": `p-${act}`, title, onclick: () => send(act), ...more }, text)
  const next = state.phase === "predict" ? "Reveal" : "Next"
  return h(
    "section",
    { class: "lesson", "aria-label": `Lesson: ${state.title}` },
    h(
      "div",
      { class: "head" },
      h("span", { class: "title" }, state.title),
      h("span", { class: "muted at" }, `Step ${state.step} of ${state.steps}`),
      phaseList(state),
      h("span", { class: "muted working", role: "status" }, state.working ? "Computing…" : ""),
      h(
        "div",
        { class: "go" },
        button("back", "Back", "The step before (← or Page Up)", { disabled: state.first }),
        button("next", next, `${next} (→ or Page Down)`, {
          class: "main",
          disabled: state.last,
        }),
      ),
      button("save", "Save script", "Save the script of this lesson, to edit it", {
        class: "bare",
      }),
      button("stop", icon("close"), "End the lesson", {
        class: "bare",
        "aria-label": "End the lesson",
      }),
    ),
    h(
      "div",
      { class: "text", role: "status" },
      h("p", { class: "sentence" }, state.sentence),
      state.question ? h("p", { class: "question" }, state.question) : null,
      choiceList(state, send),
      state.reveal ? h("p", { class: "reveal" }, state.reveal) : null,
      state.discuss ? h("p", { class: "question" }, state.discuss) : null,
    ),
  )
})
