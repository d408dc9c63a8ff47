const ICON = {
  left: icon('<rect x="3" y="4" width="18" height="16" rx="2"/><path d="M9 4v16"/>'),
  right: icon('<rect x="3" y="4" width="18" height="16" rx="2"/><path d="M15 4v16"/>'),
  brand: icon(
    '<path d="M2 12h5M7 5v14M7 5h7M7 19h14M14 2v7M14 2h7M14 9h7"/>',
    'stroke-width="2.2" stroke-linecap="round" aria-hidden="true"',
  ),
}

function icon(shapes, more = 'stroke-width="1.8"') {
  return `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" ${more}>${shapes}</svg>`
}

// A button that folds a side panel.
function foldButton(side, name) {
  const names = `aria-label="${name} panel" title="${name} panel" aria-expanded="true"`
  return `<button class="fold" data-side="${side}" ${names}>${ICON[side]}</button>`
}

// The shortcuts of the page. Python decides what they do.
const KEYS = new Set([..."toegqnarlxucp /0123456789", "Enter", "Escape"])

// The keys of a lesson or a presentation; a remote control sends Page Up and Page Down.
const STEP_KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "PageUp", "PageDown"])

// True if a field takes the key. A slider, a tick or a select takes letters, digits and arrows, but
// has nothing to undo.
function typing(event, command) {
  return event
    .composedPath()
    .some(
      node =>
        node instanceof HTMLElement &&
        (node.isContentEditable ||
          node.tagName === "TEXTAREA" ||
          (node.tagName === "SELECT" && !command) ||
          (node.tagName === "INPUT" &&
            !(command && ["range", "checkbox", "radio"].includes(node.type)))),
    )
}

// The first field in the page whose placeholder begins with a word.
function findField(node, word) {
  for (const child of node.querySelectorAll("*")) {
    if (child.tagName === "INPUT" && child.placeholder?.startsWith(word)) return child
    const hit = child.shadowRoot && findField(child.shadowRoot, word)
    if (hit) return hit
  }
  return null
}

export function render({ model, el, view }) {
  const send = (act, fields) => {
    checkMessage(model.acts, act, fields)
    model.send_msg({ act, ...fields })
  }
  // Bokeh lays out all figures after each change of size. Only a change of the page's size needs
  // that.
  let size = ""
  layOutOnlyIf(view, () => {
    const { width, height } = view.el.getBoundingClientRect()
    return size !== (size = `${width} x ${height}`)
  })
  const root = document.createElement("div")
  root.className = "hc"
  root.innerHTML = `
    <a class="skip" href="#hc-main">Skip to the tree</a>
    <header>${foldButton("left", "Constraints")}
      <span class="brand">${ICON.brand}hcviz</span><div class="slot"></div>
      ${foldButton("right", "Inspector")}
      <div class="track" role="presentation"><i></i></div></header>
    <div class="player"></div>
    <aside class="left" aria-label="Constraints"></aside>
    <main id="hc-main" aria-label="Tree and heatmap" tabindex="-1"></main>
    <div class="notice"></div>
    <aside class="right" aria-label="Inspector"></aside>
    <footer></footer>
    <p class="caption"></p>`
  // A figure shows that it has the focus only to those who go to it with the key Tab.
  root.addEventListener("keyup", event => {
    if (event.key === "Tab") root.classList.add("keyboard")
  })
  root.addEventListener("pointerdown", () => root.classList.remove("keyboard"), true)
  root.querySelector(".slot").append(model.get_child("bar"))
  root.querySelector(".notice").append(model.get_child("notice"))
  root.querySelector(".player").append(model.get_child("player"), model.get_child("presenter"))
  const cards = ["lesson", "ask", "compare", "groups", "left"].map(name => model.get_child(name))
  for (const card of cards.slice(1, -1)) card.dataset.card = ""
  root.querySelector(".left:not(button)").append(...cards)
  root.querySelector("main").append(model.get_child("centre"))
  root.querySelector("aside.right").append(model.get_child("right"), ...model.get_child("below"))
  root.querySelector("footer").append(model.get_child("foot"), model.get_child("tour"))
  // The inspector above the sections grows and shrinks with a run. The sections below it stay in
  // place.
  const inspector = model.get_child("right"),
    aside = root.querySelector("aside.right")
  let tall = 0
  const keepPlace = new ResizeObserver(() => {
    const before = tall,
      grown = (tall = inspector.offsetHeight) - before
    const below =
      aside.scrollTop > before ||
      model.get_child("below").some(each => each.matches(":focus-within"))
    if (before && below) aside.scrollTop += grown
  })
  keepPlace.observe(inspector)

  const folds = {
    left: root.querySelector('[data-side="left"]'),
    right: root.querySelector('[data-side="right"]'),
  }
  const open = { left: true, right: true }
  let openBefore = null // what was open before the left panel opened for a card
  const paint = () => {
    const card = model.draft_open ? "left" : model.lesson_open ? "lesson" : ""
    const bar = !open.left && root.classList.contains("narrow") ? card : ""
    root.classList.toggle("bar-open", bar !== "")
    for (const name of ["left", "lesson"])
      model.get_child(name).toggleAttribute("data-bar", name === bar)
    for (const side of ["left", "right"]) {
      root.classList.toggle(`no-${side}`, !open[side])
      folds[side].setAttribute("aria-expanded", String(open[side]))
    }
  }
  for (const side of ["left", "right"])
    folds[side].addEventListener("click", () => {
      open[side] = !open[side]
      openBefore = null
      if (open[side] && root.classList.contains("narrow"))
        open[side === "left" ? "right" : "left"] = false
      paint()
    })
  // A card that asks something opens its panel, since digits answer it. Afterwards the panel folds
  // again.
  const ask = () => {
    root.classList.toggle("asking", model.asking)
    if (model.asking && !open.left) {
      openBefore = { ...open }
      open.left = true
      if (root.classList.contains("narrow")) open.right = false
    } else if (!model.asking && openBefore) {
      Object.assign(open, openBefore)
      openBefore = null
    } else return
    paint()
  }
  model.on("asking", ask)
  // In a narrow window a panel covers the items to click, so that an open draft or a lesson is
  // shown as a bar.
  for (const card of ["draft_open", "lesson_open"])
    model.on(card, () => {
      if (model[card] && root.classList.contains("narrow")) open.left = open.right = false
      paint()
    })

  // A lesson or a presentation has the room for itself; at its end the panels are as before.
  let openBeforeLesson = null
  model.on("panels", () => {
    root.classList.toggle("playing", model.panels !== "")
    if (model.panels) {
      openBeforeLesson ??= { ...open }
      open.left = model.panels === "left" && !root.classList.contains("narrow")
      open.right = false
    } else if (openBeforeLesson) {
      Object.assign(open, openBeforeLesson)
      openBeforeLesson = null
    }
    paint()
  })

  model.on("presenting", () => root.classList.toggle("presenting", model.presenting))

  let narrow = null
  const adaptTo = width => {
    if (!width) return
    const now = width < 1100
    if (now !== narrow) {
      narrow = now
      open.left = open.right = !now
      root.classList.toggle("narrow", now)
      openBefore = null
      ask()
      paint()
    }
    root.classList.toggle("tiny", width < 560)
  }
  if (model.whole_page) adaptTo(innerWidth) // before the figures are laid out, rather than after
  const sizes = new ResizeObserver(() => {
    adaptTo(root.clientWidth)
    for (const [name, parts] of [
      ["--head", ["header", ".player"]],
      ["--foot", ["footer"]],
    ]) {
      // what drawers lie between
      const heights = parts.map(part => root.querySelector(part).offsetHeight)
      root.style.setProperty(name, `${heights.reduce((a, b) => a + b)}px`)
    }
  })
  for (const part of ["header", ".player", "footer"]) sizes.observe(root.querySelector(part))
  sizes.observe(root)

  const theme = () => {
    root.dataset.hcTheme = model.theme
    root.style.colorScheme = model.theme
    if (!model.whole_page) return
    document.documentElement.dataset.hcTheme = model.theme
    document.documentElement.style.colorScheme = model.theme
  }
  theme()
  model.on("theme", () => {
    theme()
    // A cookie, since the server needs the theme for the first picture.
    if (model.whole_page)
      document.cookie = `hcviz-theme=${model.theme}; path=/; max-age=31536000; SameSite=Lax`
  })

  const caption = root.querySelector(".caption")
  const describe = () => (caption.textContent = model.caption)
  describe()
  model.on("caption", describe)
  const printing = model.whole_page ? fitToPaper(root) : null

  const bar = root.querySelector(".track i")
  const run = () => {
    root.classList.toggle("busy", model.busy)
    bar.style.width = `${Math.round(100 * model.progress)}%`
  }
  run()
  model.on("busy", run)
  model.on("progress", run)

  // In a notebook the page takes keys only while it has the focus, or after a press in it.
  let pressed = model.whole_page
  const onPress = event => {
    pressed = event.composedPath().includes(root)
  }
  const isForPage = event =>
    model.whole_page ||
    event.composedPath().includes(root) ||
    (pressed && document.activeElement === document.body)
  if (!model.whole_page) {
    document.addEventListener("pointerdown", onPress, true)
    root.tabIndex = -1 // so that a press takes the focus from the notebook
    el.getRootNode().host?.setAttribute("data-lm-suppress-shortcuts", "true")
    const kernel = kernelConnections(documentOf(view), () => model.beat > 0)
    const reportDrawn = () => {
      kernel.unblock()
      send("shown", { beat: model.beat })
    }
    const shown = () => requestAnimationFrame(reportDrawn)
    model.on("beat", () => {
      kernel.sendAtOnce()
      shown()
    })
    const reportUntilAnswered = tries => {
      shown()
      setTimeout(() => {
        if (!model.beat && tries && root.isConnected) reportUntilAnswered(tries - 1)
      }, 1000)
    }
    reportUntilAnswered(600)
  }

  const connection = model.whole_page ? watchConnection(root, documentOf(view)) : null
  const onKey = event => {
    if (!root.isConnected || !isForPage(event)) return
    const command = event.ctrlKey || event.metaKey
    if (event.altKey || (typing(event, command) && event.key !== "Escape")) return
    let key = event.key
    if (command) {
      if (key.toLowerCase() === "z") key = event.shiftKey ? "redo" : "undo"
      else if (key.toLowerCase() === "y") key = "redo"
      else return
    } else {
      key = key.length === 1 ? key.toLowerCase() : key
      if (!KEYS.has(key) && !(model.panels && STEP_KEYS.has(key) && !event.defaultPrevented)) return
      if (
        (key === "Enter" || key === " ") &&
        event.composedPath().some(n => ["BUTTON", "A", "SUMMARY"].includes(n.tagName))
      )
        return
    }
    event.preventDefault()
    if (connection?.lost)
      return connection.refuse(
        key === " "
          ? "The key Space"
          : `The key ${key === key.toLowerCase() && key.length === 1 ? key.toUpperCase() : key}`,
      )
    if (key === "/") return findField(root, "Find")?.focus()
    if (key === "n") {
      // It opens the panel of the name field; without a selection Python says what to do.
      const field = findField(root, "Name")
      if (!field) return send("key", { key })
      if (!open.right) folds.right.click()
      field.focus()
      field.select()
      return
    }
    // A hidden card takes no answer.
    if (model.asking && !open.left && /^[1-9 ]$/.test(key)) return ask()
    send("key", { key })
  }
  document.addEventListener("keydown", onKey)
  model.on("remove", () => {
    printing?.()
    document.removeEventListener("keydown", onKey)
    document.removeEventListener("pointerdown", onPress, true)
  })
  el.style.height = "100%"
  return root
}
