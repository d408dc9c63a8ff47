function moment(iso) {
  const then = new Date(iso),
    today = new Date().toDateString() === then.toDateString()
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" })
  return today
    ? time
    : `${then.toLocaleDateString("en-GB", { day: "numeric", month: "short" })}, ${time}`
}

// After the server was lost, connection.js reloads the tab. Ask the server for the tab's session.
// The name is kept until a session begins, in case the server is lost again.
function rejoin(send) {
  let name = null
  try {
    name = sessionStorage.getItem("hcviz-rejoin")
  } catch {
    /* not allowed here */
  }
  if (name) send("rejoin", { name })
}

let asked = false
export const render = component(
  "notice",
  (state, send) => {
    const page = document.documentElement.dataset
    if (state.journal === null) delete page.hcJournal // no sessions are kept
    else page.hcJournal = state.journal
    if (state.journal)
      try {
        sessionStorage.removeItem("hcviz-rejoin")
      } catch {
        /* not allowed here */
      }
    const offer = state.offer
    return h(
      "div",
      { role: "region", "aria-live": "polite", "aria-label": "Unfinished session" },
      offer
        ? h(
            "div",
            { class: "bar" },
            h(
              "p",
              {},
              "You have an unfinished session: ",
              h("b", {}, offer.title),
              `, ${offer.answers}, ${moment(offer.time)}.`,
            ),
            h(
              "span",
              { class: "choice" },
              h(
                "button",
                {
                  class: "main",
                  "data-key": "resume",
                  title: "Replace the present session by it",
                  onclick: () => send("resume"),
                },
                "Resume",
              ),
              h(
                "button",
                {
                  "data-key": "discard",
                  title: "Delete it permanently",
                  onclick: () => send("discard"),
                },
                "Discard",
              ),
            ),
          )
        : null,
    )
  },
  (live, root, send) => {
    if (live.ready && !asked) {
      asked = true
      rejoin(send)
    }
  },
)
