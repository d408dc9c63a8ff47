// The connection to the server. The page shows when it is lost, takes no input meanwhile, and
// reloads when the server is back. The reloaded page resumes this tab's session
// (features/autosave).
const REJOIN = "hcviz-rejoin"
const INTERVAL = 1000 // ms between two probes
const TIMEOUT = 1800 // ms after which a probe counts as failed
// Unanswered probes after which the page shows it: a busy server is not lost.
const MAX_UNANSWERED = 2

function watchConnection(root, doc) {
  // A small request to the page's own server. Static files need no session, and work under any
  // prefix.
  const script = [...document.scripts].find(
    each => each.src && new URL(each.src).origin === location.origin,
  )
  const address = script?.src ?? location.href
  const title = document.createElement("b"),
    text = document.createElement("span"),
    key = document.createElement("span")
  const box = document.createElement("div"),
    cover = document.createElement("div")
  box.className = "bar"
  box.setAttribute("role", "alert")
  key.className = "key"
  cover.className = "lost"
  let closed = false,
    lost = false,
    leaving = false,
    unanswered = 0

  const show = now => {
    if (now === lost) return
    lost = now
    if (!lost) cover.remove()
    for (const part of root.children) part.inert = lost
    root.classList.toggle("disconnected", lost)
    if (!lost) return
    key.textContent = ""
    box.replaceChildren(title, " ", text, key)
    cover.replaceChildren(box)
    root.append(cover)
  }
  const close = () => {
    closed = true
    // F5 on this page, or the browser's own error page, resumes the session as well.
    const journal = document.documentElement.dataset.hcJournal
    if (journal)
      try {
        sessionStorage.setItem(REJOIN, journal)
      } catch {
        /* not allowed here */
      }
  }
  const updateText = () => {
    title.textContent = closed ? "Connection lost." : "The server does not answer."
    const kept = document.documentElement.dataset.hcJournal !== undefined
    text.textContent = !closed
      ? (kept ? "Your answers are kept. " : "") + "This page goes on as soon as the server answers."
      : kept
        ? "Your answers are kept. This page comes back with them as soon as the server does."
        : "This server keeps no sessions: answers that were not saved to a file are lost. " +
          "This page starts again when the server is back."
  }
  const refuse = what => {
    key.textContent = `${what} was ignored. Please wait.`
  }
  cover.addEventListener("pointerdown", () => refuse("Your click"))

  const probe = async () => {
    const stop = new AbortController(),
      timer = setTimeout(() => stop.abort(), TIMEOUT)
    try {
      return (await fetch(address, { method: "HEAD", cache: "no-store", signal: stop.signal })).ok
        ? "there"
        : "silent"
    } catch {
      return stop.signal.aborted ? "silent" : "closed"
    } finally {
      clearTimeout(timer)
    }
  }
  const watch = async () => {
    if (!root.isConnected || leaving) return
    if (lost || !document.hidden) {
      const found = await probe()
      if (leaving) return
      if (found === "closed") close() // nothing listens: the server's sessions are gone
      if (found === "there" && closed) {
        leaving = true
        location.reload()
        return
      }
      unanswered = found === "there" ? 0 : unanswered + 1
      updateText()
      show(closed || unanswered >= MAX_UNANSWERED || (lost && unanswered > 0))
    }
    setTimeout(watch, INTERVAL)
  }
  setTimeout(watch, INTERVAL)
  addEventListener("beforeunload", () => {
    leaving = true
    setTimeout(() => {
      leaving = false
      watch()
    }, 3000)
  })
  doc.on_event("connection_lost", () => {
    if (leaving) return
    close()
    updateText()
    show(true)
  })
  return {
    get lost() {
      return lost
    },
    refuse,
  }
}
