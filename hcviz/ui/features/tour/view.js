const GAP = 14 // pixels between a target and its card
const EDGE = 8 // pixels between a card and the edge of the window
const RING = 3 // pixels between a target and its ring
const INTERVAL = 120 // ms between two looks at where the targets are
const TOP_BAR = ".hc-bar" // a card leaves it visible at each step, if it can
// What the browser keeps of the tour: the step, and whether the offer was closed.
const PLACE = "hcviz-tour"
const OFFER = "hcviz-tour-offer"

// All elements of the page that match, across shadow roots.
function findAll(selector, node = document) {
  const found = [...node.querySelectorAll(selector)]
  for (const each of node.querySelectorAll("*"))
    if (each.shadowRoot) found.push(...findAll(selector, each.shadowRoot))
  return found
}

// The nearest element around a node with one of these names, across shadow roots.
function around(node, ...tags) {
  for (let at = node; at; at = at.parentNode ?? at.host) if (tags.includes(at.tagName)) return at
  return null
}

// The page of a node; a notebook may have several.
function pageOf(node) {
  for (let at = node; at; at = at.parentNode ?? at.host) if (at.classList?.contains("hc")) return at
  return document
}

// The visible elements of a target. In the bar of a narrow window a draft is only its children.
function visibleParts(target) {
  const parts = getComputedStyle(target).display === "contents" ? [...target.children] : [target]
  return parts.filter(each => each.checkVisibility())
}

// The visible part of a target, in pixels of the window; null if there is none.
function visibleBox(target) {
  const boxes = visibleParts(target).map(each => each.getBoundingClientRect())
  if (!boxes.length) return null
  const box = {
    left: Math.min(...boxes.map(each => each.left)),
    top: Math.min(...boxes.map(each => each.top)),
    right: Math.max(...boxes.map(each => each.right)),
    bottom: Math.max(...boxes.map(each => each.bottom)),
  }
  const clip = around(target, "ASIDE")?.getBoundingClientRect()
  const left = Math.max(box.left, clip?.left ?? 0, 0)
  const top = Math.max(box.top, clip?.top ?? 0, 0)
  const right = Math.min(box.right, clip?.right ?? Infinity, innerWidth)
  const bottom = Math.min(box.bottom, clip?.bottom ?? Infinity, innerHeight)
  return right - left < 4 || bottom - top < 4 ? null : { left, top, right, bottom }
}

// Put an element of fixed position at a place of the window. An element around it may be its frame.
function moveTo(element, left, top) {
  const box = element.getBoundingClientRect()
  const [dx, dy] = [left - box.left, top - box.top]
  if (Math.abs(dx) < 0.5 && Math.abs(dy) < 0.5) return
  element.style.left = `${parseFloat(element.style.left || 0) + dx}px`
  element.style.top = `${parseFloat(element.style.top || 0) + dy}px`
}

// The area that two boxes share, if one of them is larger by `edge` pixels at each side.
function overlap(a, b, edge = 0) {
  const width = Math.min(a.right, b.right) - Math.max(a.left, b.left) + edge
  const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) + edge
  return width > 0 && height > 0 ? width * height : 0
}

// The place of a card of this size: beside the first ring, if it covers nothing there that it is
// about. Else the place of the window where it covers least, rings above all, and is nearest to the
// first ring.
function cardPlace(width, height, rings, others) {
  const most = { left: innerWidth - width - EDGE, top: innerHeight - height - EDGE }
  const within = (value, limit) => Math.max(EDGE, Math.min(value, limit))
  const [first] = rings
  if (!first) return { left: most.left / 2, top: most.top - 48 }
  const covered = ({ left, top }) => {
    const card = { left, top, right: left + width, bottom: top + height }
    const area = (boxes, edge) => boxes.reduce((sum, box) => sum + overlap(card, box, edge), 0)
    return 1000 * area(rings, RING) + area(others, 0)
  }
  const middle = within((first.top + first.bottom - height) / 2, most.top)
  const places = [
    { left: first.right + GAP, top: middle },
    { left: first.left - GAP - width, top: middle },
    { left: within(first.left, most.left), top: first.bottom + GAP },
    { left: within(first.left, most.left), top: first.top - GAP - height },
  ].filter(({ left, top }) => left >= EDGE && top >= EDGE && left <= most.left && top <= most.top)
  const fitting = places.find(place => !covered(place))
  if (fitting) return fitting
  const steps = limit => Array.from({ length: 25 }, (_, k) => EDGE + (k / 24) * (limit - EDGE))
  for (const left of steps(most.left)) for (const top of steps(most.top)) places.push({ left, top })
  const distance = ({ left, top }) =>
    Math.hypot(left + width / 2 - first.right, top + height / 2 - (first.top + first.bottom) / 2)
  const cost = place => covered(place) + distance(place)
  return places.reduce((best, place) => (cost(place) < cost(best) ? place : best))
}

// The rings and the card follow their targets while the tour is shown.
function follow(root, state) {
  clearTimeout(root.hcTimer)
  const card = root.querySelector(".card")
  if (!card || !root.isConnected) return
  const page = pageOf(root)
  const targets = state.targets.map(selector => findAll(selector, page)[0])
  openDrawer(root, page, targets[0])
  const boxes = targets.map(each => each && visibleBox(each)).filter(Boolean)
  const rings = root.querySelector(".rings")
  while (rings.children.length > boxes.length) rings.lastChild.remove()
  while (rings.children.length < boxes.length) rings.append(h("i", { class: "ring" }))
  boxes.forEach((box, k) => {
    const ring = rings.children[k]
    ring.style.width = `${box.right - box.left + 2 * RING}px`
    ring.style.height = `${box.bottom - box.top + 2 * RING}px`
    moveTo(ring, box.left - RING, box.top - RING)
  })
  const about = [...state.about, TOP_BAR].map(selector => findAll(selector, page)[0])
  const others = about.map(each => each && visibleBox(each)).filter(Boolean)
  const { left, top } = cardPlace(card.offsetWidth, card.offsetHeight, boxes, others)
  moveTo(card, left, top)
  root.hcTimer = setTimeout(() => follow(root, state), INTERVAL)
}

// In a narrow window, a target may be in a drawer. Open the drawer at the step, once, and close it
// after the step.
function openDrawer(root, page, target) {
  const side = target && around(target, "ASIDE")?.className.match(/left|right/)?.[0]
  if (root.hcDrawer && root.hcDrawer !== side) closeDrawer(root, page)
  if (!target || !root.hcOpens) return
  root.hcOpens = false
  if (side && root.hcState.opens && !visibleParts(target).length) {
    root.hcDrawer = side
    fold(page, side, true)
  }
  target.scrollIntoView({ block: "nearest" })
}

function closeDrawer(root, page) {
  if (root.hcDrawer) fold(page, root.hcDrawer, false)
  root.hcDrawer = null
}

function fold(page, side, open) {
  const button = findAll(`button.fold[data-side=${side}]`, page)[0]
  if (button && (button.getAttribute("aria-expanded") === "true") !== open) button.click()
}

// Arrow keys go through the steps, unless an element of the page has the focus. The question mark
// begins the tour, or puts the focus on its card.
function takeKeys(root) {
  if (root.hcTakesKeys) return
  root.hcTakesKeys = true
  document.addEventListener("keydown", event => {
    if (!root.isConnected || event.defaultPrevented) return
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const wholePage = document.documentElement.dataset.hcTheme
    const path = event.composedPath()
    const free = wholePage && (path[0] === document.body || path[0].id === "hc-main")
    const isTyped = /^(INPUT|TEXTAREA|SELECT)$/.test(path[0].tagName ?? "")
    const asks = event.key === "?" && wholePage && !isTyped
    if (!free && !asks && !path.includes(root)) return
    const { on, at, steps } = root.hcState
    const act = { ArrowRight: on && at < steps - 1 && "next", ArrowLeft: on && at && "back" }
    if (act[event.key]) root.hcSend(act[event.key])
    else if (event.key === "?" && on) root.querySelector(".card").focus()
    else if (event.key === "?") begin(root)
    else return
    event.preventDefault()
  })
}

function begin(root) {
  root.hcFocus = true
  root.hcSend("start", { at: +(browserValue(PLACE) ?? 0) })
}

// The offer, in the foot of the page, until the person closes it or has seen the tour.
function offer(root, state) {
  if (!state.offered || !root.hcOffers || browserValue(OFFER) === "closed") return null
  const at = +(browserValue(PLACE) ?? 0)
  return h(
    "div",
    { class: "offer", role: "region", "aria-label": "Tour" },
    h("span", {}, at ? `The tour goes on at step ${at + 1} of ${state.steps}.` : "New here?"),
    h(
      "button",
      {
        "data-key": "tour-start",
        title: `A tour of the page in ${state.steps} short steps (?)`,
        onclick: () => begin(root),
      },
      at ? "Resume" : `Tour in ${state.steps} steps`,
    ),
    h(
      "button",
      {
        class: "bare",
        "data-key": "tour-close",
        "aria-label": "Do not offer the tour again",
        title: "Do not offer the tour again. It stays in the File menu",
        onclick: () => {
          keepInBrowser(OFFER, "closed")
          root.hcPaint()
        },
      },
      icon("close"),
    ),
  )
}

function stepCard(root, state, send) {
  const { at, steps } = state
  const last = at === steps - 1
  const finish = () => {
    keepInBrowser(OFFER, "closed")
    keepInBrowser(PLACE, null)
    send("finish")
  }
  return h(
    "div",
    {
      class: "card",
      role: "dialog",
      "aria-labelledby": "hc-tour-title",
      "aria-describedby": "hc-tour-text",
      tabindex: -1,
      "data-key": "tour-card",
      onkeydown: event => {
        if (event.key !== "Escape") return
        event.stopPropagation()
        send("leave")
      },
    },
    h(
      "div",
      { class: "head" },
      h("b", { id: "hc-tour-title" }, state.title),
      h("span", { class: "muted small" }, `${at + 1} of ${steps}`),
    ),
    h("p", { id: "hc-tour-text" }, state.text),
    state.hint ? h("p", { class: "muted small" }, state.hint) : null,
    h(
      "div",
      { class: "row" },
      textButton("tour-leave", "Leave", () => send("leave"), "It goes on here later (Escape)"),
      h("span", { class: "dots", "aria-hidden": "true" }, dots(at, steps)),
      at ? textButton("tour-back", "Back", () => send("back"), "The step before (←)") : null,
      last
        ? textButton("tour-next", "Finish", finish, "End the tour", true)
        : textButton(
            "tour-next",
            "Next",
            () => send("next"),
            "The next step (→)",
            true,
            !state.ready,
          ),
    ),
  )
}

function dots(at, steps) {
  return Array.from({ length: steps }, (_, k) => h("i", { class: k <= at ? "done" : "" }))
}

// The focus goes with the tour. It is on the card rather than on its buttons, so that the keys of a
// step, such as Enter, reach the page.
function moveFocus(root, state, wasInside) {
  if (state.on ? root.hcFocus || wasInside : wasInside)
    root.querySelector(state.on ? ".card" : "[data-key=tour-start]")?.focus({ preventScroll: true })
  root.hcFocus = false
}

export const render = component(
  "tour",
  (state, send, root) => {
    const before = root.hcState
    Object.assign(root, { hcState: state, hcSend: send, hcPaint: () => send("repaint") })
    takeKeys(root)
    const changed = before?.at !== state.at || before?.on !== state.on
    if (changed) {
      const inside = Boolean(root.querySelector(".card:focus-within, .card:focus"))
      root.hcOpens = state.on
      if (state.on) keepInBrowser(PLACE, state.at)
      else closeDrawer(root, pageOf(root))
      queueMicrotask(() => moveFocus(root, state, inside))
    }
    queueMicrotask(() => follow(root, state))
    // One element for all steps, since screen readers read what changes in it.
    root.hcSpoken ??= h("div", { class: "sr-only", role: "status" })
    root.hcSpoken.textContent = state.on ? `${state.title}. ${state.text} ${state.hint}` : ""
    if (!state.on) return [offer(root, state)]
    return [
      h("div", { class: "rings", "aria-hidden": "true" }),
      stepCard(root, state, send),
      root.hcSpoken,
    ]
  },
  (live, root) => {
    if (live.begin > (root.hcBegun ?? Infinity)) begin(root)
    root.hcBegun = live.begin
    if (root.hcOffers === live.offers) return
    root.hcOffers = live.offers
    root.hcPaint()
  },
)
