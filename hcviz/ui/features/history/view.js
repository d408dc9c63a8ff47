// The strip of steps, in the footer or opened above it. It is sent as `live`, apart from the status
// sentence, so that a click does not send every small tree again.
let opened = false

const thumb = d => {
  const made = svg(
    "svg",
    { viewBox: "-2 -2 100 64", "aria-hidden": "true", preserveAspectRatio: "none" },
    d
      ? svg("path", { d, "vector-effect": "non-scaling-stroke" })
      : svg("rect", { x: 0, y: 0, width: 96, height: 60, "vector-effect": "non-scaling-stroke" }),
  )
  return h("i", { class: d ? "thumb" : "thumb none" }, made)
}

function strip(steps, send, root) {
  const words = s => [s.label, s.answers, s.cost].filter(Boolean).join(", ")
  const step = s =>
    h(
      "button",
      {
        "data-key": `h-${s.index}`,
        class: s.now ? "current" : s.by > 0 ? "undone" : "",
        title:
          words(s) + (s.now ? " (shown now)" : s.by < 0 ? ": go back to it" : ": go forward to it"),
        "aria-label": words(s),
        "aria-current": s.now ? "step" : null,
        onclick: () => send("step", { by: s.by }),
      },
      thumb(s.thumb),
      h(
        "span",
        { class: "caption" },
        h("span", { class: "label" }, s.label),
        h("span", { class: "cost" }, s.cost || s.answers),
      ),
    )
  const turn = () => {
    opened = !opened
    place(root, send)
    root.querySelector("[data-key=history]")?.focus()
  }
  const group = h(
    "div",
    { class: opened ? "strip open" : "strip", role: "group", "aria-label": "History" },
    steps.map(step),
  )
  group.addEventListener("keydown", event => {
    const all = [...group.querySelectorAll("button")],
      here = all.indexOf(root.getRootNode().activeElement)
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key]
    if (event.key === "Escape" && opened) turn()
    else if (by && here >= 0) all[here + by]?.focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  })
  return [
    group,
    h(
      "button",
      {
        class: "bare toggle",
        "data-key": "history",
        "aria-expanded": String(opened),
        "aria-label": "All steps",
        title: opened ? "Fold the history (Esc)" : "Unfold the history",
        onclick: turn,
        onkeydown: event => {
          if (event.key === "Escape" && opened) {
            event.stopPropagation()
            turn()
          }
        },
      },
      "History",
      h("i", { class: "caret", "aria-hidden": "true" }),
    ),
  ]
}

function place(root, send) {
  const box = root.querySelector(".history"),
    steps = root.hcSteps ?? []
  const active = root.getRootNode().activeElement,
    key = active && box.contains(active) && active.dataset.key
  box.replaceChildren(...(steps.length > 1 ? strip(steps, send, root) : []))
  if (key) box.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true })
  reveal(root)
}

// Scroll to the present step. A strip that is put into the page again loses its scroll position.
function reveal(root) {
  const steps = root.querySelector(".history .strip"),
    now = steps?.querySelector("[aria-current]")
  if (!now) return
  const [all, one] = [steps.getBoundingClientRect(), now.getBoundingClientRect()]
  steps.scrollLeft += one.left < all.left ? one.left - all.left : Math.max(0, one.right - all.right)
  steps.scrollTop += one.top < all.top ? one.top - all.top : Math.max(0, one.bottom - all.bottom)
}

export const render = component(
  "foot",
  (state, send, root) => {
    root.hcSend = send
    whenResized(root, () => reveal(root))
    queueMicrotask(() => reveal(root)) // after the elements below are in the page
    return [
      state.reading
        ? h(
            "div",
            { class: "reading" },
            h("span", { role: "status", title: state.reading.sentence }, state.reading.sentence),
            h("progress", {
              max: 1,
              value: state.reading.share,
              "aria-label": state.reading.sentence,
            }),
            h(
              "button",
              {
                "data-key": "stop-reading",
                title: "What is shown stays",
                onclick: () => send("stop-reading"),
              },
              "Cancel",
            ),
          )
        : null,
      state.reading && !state.error
        ? null
        : h(
            "div",
            {
              class: `message ${state.error ? "failed" : ""}`,
              role: state.error ? "alert" : "status",
              "aria-live": "polite",
              title: state.hint || null,
            },
            state.error ? h("b", {}, state.error[0] + " ") : null,
            state.error ? state.error[1] : state.sentence,
          ),
      state.waiting ? h("span", { class: "waiting" }, "New tree ready") : null,
      (root.hcHistory ??= h("div", { class: "history" })),
    ]
  },
  (live, root) => {
    if (root.hcSteps === live.steps) return
    root.hcSteps = live.steps
    place(root, root.hcSend)
  },
)
