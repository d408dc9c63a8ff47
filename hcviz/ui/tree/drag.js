// A leaf that is dragged by its name or its branch onto a clade. These listeners run before
// Bokeh's. A press on a leaf that moves becomes a drag: Bokeh gets a "pointercancel" and no further
// events of this pointer. All other presses are left to Bokeh.
const FAR = 4 // pixels that a click may move; Bokeh pans from 5 on
const NEAR = 4 // pixels from a leaf's branch that count as the branch
const GRIP = 8 // pixels from the cut line that belong to it

const s = (drop._hc ??= { listening: new WeakSet(), pressed: null, drag: null, seq: 0 })
preview.execute(cb_obj, { what: "init", figure: "" }) // runs a moment later

// The figure under the pointer, and the data point; null outside both figures.
const place = event => {
  for (const [name, figure] of [
    ["tree", tree],
    ["labels", labels],
  ]) {
    const box = figureView.element(figure)?.getBoundingClientRect()
    if (!box || event.clientX < box.left || event.clientX >= box.right) continue
    if (event.clientY < box.top || event.clientY >= box.bottom) continue
    const scale = figureView.scales(figure)
    const sx = event.clientX - box.left,
      sy = event.clientY - box.top
    return {
      name,
      x: scale.x.invert(sx),
      y: -scale.y.invert(sy),
      pixels: Math.abs(scale.y.compute(1) - scale.y.compute(0)),
      cut: name === "tree" && cut.visible ? Math.abs(scale.x.compute(cut.location) - sx) : Infinity,
    }
  }
  return null
}

// The leaf whose name or branch is under the pointer: {row, name}; null for none.
const leafAt = at => {
  const d = text.goal ?? text.data,
    row = Math.floor(at.y)
  if (at.name === "labels") {
    const k = shape._hc.nameAt(at.x, at.y)
    if (k < 0 || d.style[k] === "italic") return null // the name of a collapsed clade
    return { row: Math.floor(-d.y[k]), name: d.text[k] }
  }
  const found = shape._hc.pick("tree", at.x, at.y)
  if (!found?.leaf || at.cut < GRIP || Math.abs(at.y - row - 0.5) * at.pixels > NEAR) return null
  const k = Array.from(d.y).findIndex(y => Math.floor(-y) === row)
  return { row, name: k < 0 ? "this item" : d.text[k] }
}

const put = (source, data) => {
  Object.assign(source.data, data)
  source.change.emit()
}
const highlight = found => {
  put(line, found ? shape._hc.path(found) : { x: [], y: [] })
  const rows = found
    ? { middle: [-(found.top + found.bottom) / 2], span: [found.bottom - found.top] }
    : { middle: [], span: [] }
  for (const band of bands) put(band, rows)
}
const report = (phase, more = {}) => {
  s.seq += 1
  drop.data = {
    seq: [s.seq],
    phase: [phase],
    serial: [shape.tags[2]],
    row: [s.drag.row],
    top: [more.top ?? -1],
    bottom: [more.bottom ?? -1],
  }
}

const begin = event => {
  const { hit, leaf } = s.pressed
  s.drag = { ...leaf, hit, target: null, id: event.pointerId }
  s.pressed = null
  s.isCancelling = true // ends Bokeh's gesture without a click or a pan
  hit.dispatchEvent(
    new PointerEvent("pointercancel", {
      pointerId: event.pointerId,
      pointerType: event.pointerType,
      isPrimary: event.isPrimary,
    }),
  )
  s.isCancelling = false
  s.ghost = document.createElement("div")
  s.ghost.className = "hc-ghost"
  s.ghost.style.cssText = drop.tags[0]
  document.body.append(s.ghost)
  document.documentElement.style.cursor = "grabbing"
  report("begin")
}
const move = event => {
  const at = place(event),
    found = at && shape._hc.pick(at.name, at.x, at.y)
  const inside = found && found.top <= s.drag.row && s.drag.row < found.bottom
  s.drag.target = found && !inside ? found : null
  highlight(s.drag.target)
  const rows = found ? found.bottom - found.top : 0
  const where = s.drag.target
    ? rows === 1
      ? "with this item"
      : `into these ${shape.tags[0] === "plain" ? rows.toLocaleString("en") : "items"}`
    : inside && rows > 1
      ? "already contains it"
      : ""
  s.ghost.replaceChildren(
    Object.assign(document.createElement("b"), { textContent: s.drag.name }),
    where ? ` ${where}` : " …",
  )
  const { offsetWidth: w, offsetHeight: h } = s.ghost
  s.ghost.style.left = `${Math.min(event.clientX + 12, innerWidth - w - 4)}px`
  s.ghost.style.top = `${Math.min(event.clientY + 10, innerHeight - h - 4)}px`
}
const end = dropped => {
  const { target } = s.drag
  s.ghost.remove()
  document.documentElement.style.cursor = ""
  highlight(null)
  report(dropped && target ? "drop" : "leave", target ?? {})
  s.drag = null
}

const stop = event => {
  event.stopImmediatePropagation()
  event.preventDefault()
}
if (!s.watching) {
  s.watching = true
  const on = (name, call) => window.addEventListener(name, call, true)
  on("pointermove", event => {
    if (s.isCancelling) return
    if (s.pressed && event.pointerId === s.pressed.id) {
      const [dx, dy] = [event.clientX - s.pressed.x, event.clientY - s.pressed.y]
      if (!event.buttons) s.pressed = null
      else if (dx * dx + dy * dy > FAR * FAR) begin(event)
    }
    if (s.drag && event.pointerId === s.drag.id) {
      stop(event)
      move(event)
    }
  })
  on("pointerup", event => {
    s.pressed = null
    if (s.drag && event.pointerId === s.drag.id) {
      stop(event)
      end(true)
    }
  })
  on("pointercancel", event => {
    if (s.isCancelling) return
    s.pressed = null
    if (s.drag && event.pointerId === s.drag.id) end(false)
  })
  on("blur", event => {
    if (event.target === window && s.drag) end(false)
  })
  on("keydown", event => {
    if (s.drag && event.key === "Escape") {
      stop(event)
      end(false)
    }
  })
}
// Listen before Bokeh. A figure that is drawn again has another element.
for (const figure of [tree, labels]) {
  const hit = figureView.gestures(figure)
  if (!hit || s.listening.has(hit)) continue
  s.listening.add(hit)
  hit.addEventListener(
    "pointerdown",
    event => {
      s.pressed = null
      if (
        event.button !== 0 ||
        event.pointerType === "touch" ||
        event.shiftKey ||
        s.drag ||
        !shape._hc?.pick
      )
        return
      const at = place(event),
        leaf = at && leafAt(at)
      if (leaf) s.pressed = { leaf, hit, id: event.pointerId, x: event.clientX, y: event.clientY }
    },
    true,
  )
}
