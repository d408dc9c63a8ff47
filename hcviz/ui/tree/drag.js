// A leaf taken by its name or its branch and carried onto a clade. Listens where Bokeh's own gestures
// do, but before them: a press that moves becomes a carry only from a leaf, Bokeh is told that its
// pointer was lost, and hears nothing more of it; every other press is Bokeh's alone.
const FAR = 4  // pixels that a press may move and still be a click; Bokeh pans from 5 on
const NEAR = 4  // pixels from a leaf's branch that are the branch
const GRIP = 8  // pixels about the cut line that are the line's

const s = (drop._hc ??= {known: new WeakSet(), held: null, carry: null, seq: 0})
const viewOf = figure => Bokeh.index.find_one(figure)
touch.execute(cb_obj, {what: "lend", figure: ""})  // answers a moment later

// Where a pointer is: in which of the two figures, and at which data point.
const place = event => {
  for (const [name, figure] of [["tree", tree], ["labels", labels]]) {
    const view = viewOf(figure), box = view?.el.getBoundingClientRect()
    if (!box || event.clientX < box.left || event.clientX >= box.right || event.clientY < box.top || event.clientY >= box.bottom) continue
    const {x_scale, y_scale} = view.frame
    const sx = event.clientX - box.left, sy = event.clientY - box.top
    return {name, x: x_scale.invert(sx), y: -y_scale.invert(sy), pixels: Math.abs(y_scale.compute(1) - y_scale.compute(0)),
      cut: name === "tree" && cut.visible ? Math.abs(x_scale.compute(cut.location) - sx) : Infinity}
  }
  return null
}

// The name under the pointer, or the leaf whose branch is there: {row, name}, else null.
const leafAt = at => {
  const d = text.goal ?? text.data, row = Math.floor(at.y)
  if (at.name === "labels") {
    const k = shape._hc.nameAt(at.x, at.y)
    return k < 0 || d.style[k] === "italic" ? null : {row: Math.floor(-d.y[k]), name: d.text[k]}  // italic: a wedge
  }
  const found = shape._hc.pick("tree", at.x, at.y)
  if (!found?.leaf || at.cut < GRIP || Math.abs(at.y - row - 0.5) * at.pixels > NEAR) return null
  const k = Array.from(d.y).findIndex(y => Math.floor(-y) === row)
  return {row, name: k < 0 ? "this item" : d.text[k]}
}

const put = (source, data) => { Object.assign(source.data, data); source.change.emit() }
const light = found => {
  put(line, found ? shape._hc.path(found) : {x: [], y: []})
  const rows = found ? {middle: [-(found.top + found.bottom) / 2], span: [found.bottom - found.top]} : {middle: [], span: []}
  for (const band of bands) put(band, rows)
}
const tell = (phase, more = {}) => {
  s.seq += 1
  drop.data = {seq: [s.seq], phase: [phase], serial: [shape.tags[2]], row: [s.carry.row],
    top: [more.top ?? -1], bottom: [more.bottom ?? -1]}
}

const begin = event => {
  const {hit, leaf} = s.held
  s.carry = {...leaf, hit, target: null, id: event.pointerId}
  s.held = null
  s.passing = true  // Bokeh's gesture ends without a click or a pan
  hit.dispatchEvent(new PointerEvent("pointercancel", {pointerId: event.pointerId, pointerType: event.pointerType, isPrimary: event.isPrimary}))
  s.passing = false
  s.ghost = document.createElement("div")
  s.ghost.className = "hc-ghost"
  s.ghost.style.cssText = drop.tags[0]
  document.body.append(s.ghost)
  document.documentElement.style.cursor = "grabbing"
  tell("begin")
}
const carry = event => {
  const at = place(event), found = at && shape._hc.pick(at.name, at.x, at.y)
  const inside = found && found.top <= s.carry.row && s.carry.row < found.bottom
  s.carry.target = found && !inside ? found : null
  light(s.carry.target)
  const rows = found ? found.bottom - found.top : 0
  const where = s.carry.target ? rows === 1 ? "with this item" : `into these ${shape.tags[0] === "plain" ? rows.toLocaleString("en") : "items"}`
    : inside && rows > 1 ? "is in there already" : ""
  s.ghost.replaceChildren(Object.assign(document.createElement("b"), {textContent: s.carry.name}), where ? ` ${where}` : " …")
  const {offsetWidth: w, offsetHeight: h} = s.ghost
  s.ghost.style.left = `${Math.min(event.clientX + 12, innerWidth - w - 4)}px`
  s.ghost.style.top = `${Math.min(event.clientY + 10, innerHeight - h - 4)}px`
}
const end = dropped => {
  const {target} = s.carry
  s.ghost.remove()
  document.documentElement.style.cursor = ""
  light(null)
  tell(dropped && target ? "drop" : "leave", target ?? {})
  s.carry = null
}

const stop = event => { event.stopImmediatePropagation(); event.preventDefault() }
if (!s.watching) {
  s.watching = true
  const on = (name, call) => window.addEventListener(name, call, true)
  on("pointermove", event => {
    if (s.passing) return
    if (s.held && event.pointerId === s.held.id) {
      const [dx, dy] = [event.clientX - s.held.x, event.clientY - s.held.y]
      if (!event.buttons) s.held = null
      else if (dx * dx + dy * dy > FAR * FAR) begin(event)
    }
    if (s.carry && event.pointerId === s.carry.id) { stop(event); carry(event) }
  })
  on("pointerup", event => {
    s.held = null
    if (s.carry && event.pointerId === s.carry.id) { stop(event); end(true) }
  })
  on("pointercancel", event => {
    if (s.passing) return
    s.held = null
    if (s.carry && event.pointerId === s.carry.id) end(false)
  })
  on("blur", event => { if (event.target === window && s.carry) end(false) })
  on("keydown", event => { if (s.carry && event.key === "Escape") { stop(event); end(false) } })
}
// A press in either figure, before Bokeh; their elements are others after a figure is drawn anew.
for (const figure of [tree, labels]) {
  const hit = viewOf(figure)?.canvas_view?.events_el
  if (!hit || s.known.has(hit)) continue
  s.known.add(hit)
  hit.addEventListener("pointerdown", event => {
    s.held = null
    if (event.button !== 0 || event.pointerType === "touch" || event.shiftKey || s.carry || !shape._hc?.pick) return
    const at = place(event), leaf = at && leafAt(at)
    if (leaf) s.held = {leaf, hit, id: event.pointerId, x: event.clientX, y: event.clientY}
  }, true)
}
