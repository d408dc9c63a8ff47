// A lesson can play its steps; the timer is in the browser, so that it ends with the page.
const PACE = 2500
let player = null

function play(on, send) {
  clearInterval(player)
  player = on ? setInterval(() => send("forward"), PACE) : null
}

export const render = component("lesson", (state, send) => {
  const { item, outcome, replay } = state
  if (player && (!state.on || !replay || replay.at === replay.of)) play(false)
  if (!state.on) return []
  const still = { onmousedown: event => event.preventDefault() }
  const button = (act, text, mark, title, more = {}) =>
    h(
      "button",
      {
        ...still,
        "data-key": `l-${act}`,
        title,
        onclick: () => send(act),
        ...more,
      },
      text,
      mark ? h("kbd", {}, mark) : null,
    )
  const step =
    replay &&
    h(
      "div",
      { class: "steps", role: "group", "aria-label": "Steps of the lesson" },
      h(
        "p",
        { class: "small muted" },
        replay.at
          ? `Step ${replay.at} of ${replay.of}: ${replay.last}`
          : counted(replay.of, "step"),
      ),
      h(
        "div",
        { class: "track", "aria-hidden": "true" },
        h("i", { style: `width: ${(100 * replay.at) / Math.max(1, replay.of)}%` }),
      ),
      h(
        "div",
        { class: "row" },
        button("back", "Back", null, "The step before", { disabled: !replay.at }),
        button("forward", "Next", null, "The next step", { disabled: replay.at === replay.of }),
        h(
          "button",
          {
            ...still,
            "data-key": "l-play",
            class: player ? "on" : "",
            "aria-pressed": String(!!player),
            disabled: replay.at === replay.of,
            title: "Take a step every few seconds",
            onclick: () => {
              play(!player, send)
              send("repaint")
            },
          },
          icon(player ? "pause" : "run"),
          player ? "Pause" : "Play",
        ),
      ),
    )
  return h(
    "div",
    {},
    h(
      "div",
      { class: "head" },
      h("h2", {}, "Lesson"),
      h(
        "button",
        {
          class: "bare",
          "data-key": "l-stop",
          "aria-label": "End the lesson",
          title: "End the lesson: classes are shown again",
          onclick: () => {
            play(false)
            send("stop")
          },
        },
        icon("close"),
      ),
    ),
    step,
    item
      ? h(
          "div",
          { class: "card", role: "group", "aria-label": "Where does it go?" },
          h("p", { class: "ask", role: "status" }, "Where does ", h("b", {}, item), " go?"),
          outcome
            ? [
                h(
                  "p",
                  { class: `verdict ${outcome.right ? "right" : "wrong"}`, role: "status" },
                  h("b", {}, outcome.right ? "Right. " : "Not quite. "),
                  outcome.sentence,
                ),
                h("p", { class: "small muted" }, outcome.share),
                h(
                  "div",
                  { class: "row" },
                  button("go-on", "Go on", "Enter", "Correct the tree, and go on (Enter)", {
                    class: "main",
                  }),
                ),
              ]
            : [
                h(
                  "p",
                  { class: "small muted" },
                  state.guess
                    ? `Your guess: ${state.guess}.`
                    : "It is drawn apart from the tree. Click the subtree or the item " +
                        "beside which it belongs, or find one by name (/).",
                ),
                h(
                  "div",
                  { class: "row" },
                  button(
                    "reveal",
                    "Reveal",
                    "Enter",
                    "Show where it is in the correct tree (Enter)",
                    { class: "main", disabled: !state.guess },
                  ),
                  button("wider", "Wider", null, "The next larger subtree", {
                    disabled: !state.guess,
                  }),
                  button("skip", "Skip", null, "Ask about another item"),
                ),
              ],
        )
      : h(
          "p",
          { class: "small muted", role: "status" },
          state.working ? "The tree is computed again with the answer." : "No more questions.",
        ),
    state.score ? h("p", { class: "small score" }, state.score, ".") : null,
  )
})
