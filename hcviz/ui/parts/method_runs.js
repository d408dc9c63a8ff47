// The button of a sheet that runs several methods, and its status: see method_runs.py.
function runButton(state, send) {
  if (state.running || state.waiting)
    return h("button", { "data-key": "go", onclick: () => send("cancel") }, icon("stop"), "Stop")
  return h(
    "button",
    { class: "main", "data-key": "go", disabled: !state.left, onclick: () => send("run") },
    icon("run"),
    state.left ? `Run ${counted(state.left, "method")}` : "All have run",
  )
}

// `otherwise` is the status while no method runs.
function runStatus(state, otherwise = "") {
  const text = state.running
    ? `Running: ${state.running}. ${state.left} to go.`
    : state.waiting
      ? "Waits until your own run has finished."
      : otherwise
  return h("span", { class: "muted small", role: "status" }, text)
}
