// Asks the server for the text of the tooltip at the pointer, one request at a time, and shows the
// answer. tooltip.py passes `probe` (the request), `tip` (the answer), `what` and `name` (the
// figure). `what` is the event: move, leave, tap, redrawn or answered. `cb_obj` is Bokeh's event.
const s = (probe._hc ??= { busy: false, next: null, x: 0, y: 0, seq: 0, tip: null })

const hide = () => {
  if (s.tip) s.tip.style.display = "none"
}

const send = () => {
  if (s.next === null || s.busy) return
  const [figure, x, y] = s.next
  s.next = null
  s.busy = true
  s.seq += 1
  clearTimeout(s.timer)
  s.timer = setTimeout(free, 1000)
  probe.data = { figure: [figure], x: [x], y: [y], seq: [s.seq] }
}

const free = () => {
  s.busy = false
  send()
}

// The text is inserted as text and never as markup.
const show = (title, text, image) => {
  s.tip.style.cssText = tip.data.style[0]
  s.tip.replaceChildren()
  if (image.startsWith("data:image/")) {
    const img = document.createElement("img")
    img.src = image
    img.style.cssText = "height:56px;float:right;margin-left:8px;image-rendering:pixelated"
    s.tip.appendChild(img)
  }
  const head = document.createElement("div")
  head.style.fontWeight = "600"
  head.textContent = title
  const body = document.createElement("div")
  body.style.whiteSpace = "pre-line"
  body.textContent = text
  s.tip.append(head, body)
  const { offsetWidth: wide, offsetHeight: high } = s.tip
  const left = s.x + 16 + wide > window.innerWidth ? s.x - wide - 12 : s.x + 16
  const top = s.y + 18 + high > window.innerHeight ? s.y - high - 12 : s.y + 18
  s.tip.style.left = `${Math.max(4, left)}px`
  s.tip.style.top = `${Math.max(4, top)}px`
}

if (!s.watching) {
  s.watching = true
  window.addEventListener(
    "mousemove",
    event => {
      s.x = event.clientX
      s.y = event.clientY
      s.down = event.buttons !== 0
      if (s.down) hide()
    },
    { passive: true },
  )
}

if (what === "move") {
  if (s.down) return
  s.inside = true
  s.next = [name, cb_obj.x, cb_obj.y]
  send()
} else if (what === "leave") {
  s.inside = false
  s.clicked = null
  hide()
  s.next = ["", 0, 0]
  send()
} else if (what === "tap") {
  // The tooltip of a clicked clade stays hidden while the pointer is on it. `clicked` is its text,
  // null without a click, and "" if the next answer brings the text.
  s.clicked = s.busy || s.next ? "" : (s.shown ?? "")
  hide()
} else if (what === "redrawn") {
  s.next = null
  s.shown = ""
  s.clicked = null
  hide()
} else if (what === "answered") {
  setTimeout(free, 25)
  if (!s.tip) {
    s.tip = document.createElement("div")
    s.tip.className = "hc-tip"
    s.tip.setAttribute("role", "tooltip")
    document.body.appendChild(s.tip)
  }
  const [title = "", text = "", image = ""] = ["title", "text", "image"].map(
    column => tip.data[column][0] ?? "",
  )
  s.shown = `${title}\n${text}`
  if (s.clicked === "") s.clicked = s.shown
  else if (s.clicked !== s.shown) s.clicked = null
  if (!s.inside || s.down || !title || s.clicked != null) hide()
  else show(title, text, image)
}
