// Asks the server for the text of the tooltip at the pointer, one request at a time, and shows the
// answer. tooltip.py passes the sources `request` and `answer`, and the names `eventName` (move,
// leave, tap, redrawn or answered) and `figureName`. `cb_obj` is Bokeh's event.
const state = (request._hc ??= { busy: false, next: null, x: 0, y: 0, seq: 0, tip: null })

const hideTooltip = () => {
  if (state.tip) state.tip.style.display = "none"
}

const sendRequest = () => {
  if (state.next === null || state.busy) return
  const [figure, x, y] = state.next
  state.next = null
  state.busy = true
  state.seq += 1
  clearTimeout(state.timer)
  state.timer = setTimeout(endRequest, 1000)
  request.data = { figure: [figure], x: [x], y: [y], seq: [state.seq] }
}

// Let the next request go: the answer has arrived, or it takes too long.
const endRequest = () => {
  state.busy = false
  sendRequest()
}

// The text is inserted as text and never as markup.
const showTooltip = (title, text, image) => {
  state.tip.style.cssText = answer.data.style[0]
  state.tip.replaceChildren()
  if (image.startsWith("data:image/")) {
    const img = document.createElement("img")
    img.src = image
    img.style.cssText = "height:56px;float:right;margin-left:8px;image-rendering:pixelated"
    state.tip.appendChild(img)
  }
  const head = document.createElement("div")
  head.style.fontWeight = "600"
  head.textContent = title
  const body = document.createElement("div")
  body.style.whiteSpace = "pre-line"
  body.textContent = text
  state.tip.append(head, body)
  const { offsetWidth: wide, offsetHeight: high } = state.tip
  const left = state.x + 16 + wide > window.innerWidth ? state.x - wide - 12 : state.x + 16
  const top = state.y + 18 + high > window.innerHeight ? state.y - high - 12 : state.y + 18
  state.tip.style.left = `${Math.max(4, left)}px`
  state.tip.style.top = `${Math.max(4, top)}px`
}

if (!state.watching) {
  state.watching = true
  window.addEventListener(
    "mousemove",
    event => {
      state.x = event.clientX
      state.y = event.clientY
      state.down = event.buttons !== 0
      if (state.down) hideTooltip()
    },
    { passive: true },
  )
}

if (eventName === "move") {
  if (state.down) return
  state.inside = true
  state.next = [figureName, cb_obj.x, cb_obj.y]
  sendRequest()
} else if (eventName === "leave") {
  state.inside = false
  state.clicked = null
  hideTooltip()
  state.next = ["", 0, 0]
  sendRequest()
} else if (eventName === "tap") {
  // The tooltip of a clicked clade stays hidden while the pointer is on it. `clicked` is its text,
  // null without a click, and "" if the next answer brings the text.
  state.clicked = state.busy || state.next ? "" : (state.shown ?? "")
  hideTooltip()
} else if (eventName === "redrawn") {
  state.next = null
  state.shown = ""
  state.clicked = null
  hideTooltip()
} else if (eventName === "answered") {
  setTimeout(endRequest, 25)
  if (!state.tip) {
    state.tip = document.createElement("div")
    state.tip.className = "hc-tip"
    state.tip.setAttribute("role", "tooltip")
    document.body.appendChild(state.tip)
  }
  const [title = "", text = "", image = ""] = ["title", "text", "image"].map(
    column => answer.data[column][0] ?? "",
  )
  state.shown = `${title}\n${text}`
  if (state.clicked === "") state.clicked = state.shown
  else if (state.clicked !== state.shown) state.clicked = null
  if (!state.inside || state.down || !title || state.clicked != null) hideTooltip()
  else showTooltip(title, text, image)
}
