export const render = component("foot", (state, send, root) => {
  requestAnimationFrame(() => { const strip = root.querySelector(".strip"); if (strip) strip.scrollLeft = strip.scrollWidth })
  return [
    h("div", { class: `says ${state.error ? "failed" : ""}`, role: state.error ? "alert" : "status", "aria-live": "polite", title: state.hint || null },
      state.error ? h("b", {}, state.error[0] + " ") : null, state.error ? state.error[1] : state.sentence),
    state.waiting ? h("span", { class: "waiting" }, "New tree ready") : null,
    state.history.length > 1 ? h("div", { class: "strip", role: "group", "aria-label": "History" },
      state.history.map(entry => h("button", { type: "button", "data-key": `h-${entry.index}`, class: entry.now ? "now" : "",
        title: entry.title, "aria-current": entry.now ? "step" : null, onclick: () => send("step", { by: entry.by }) }, h("span", {}, entry.label)))) : null,
  ]
})
