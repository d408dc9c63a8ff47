// Runs when one of the tree's sources gets data. Columns x0, y0 (of several lines xs0, ys0) are the
// old places of the points; the points move to their new places. `lead`, the tree's lines, begins a
// transition, and the other sources follow it. Columns are replaced in place with `change.emit`, so
// that nothing is sent to the server. At the end they are the columns that were sent. During the
// transition `goal` of a source has these columns, for code that picks or copies.
const SPAN = 300 // milliseconds
const source = cb_obj,
  data = source.data
const s = (lead._motion ??= { moving: null, down: false })

const put = (model, columns) => {
  Object.assign(model.data, columns)
  model.change.emit()
}
const between = (from, to, share) =>
  to[0] != null && to[0].length !== undefined
    ? to.map((line, k) => between(from[k], line, share))
    : Float32Array.from(to, (end, i) => from[i] + (end - from[i]) * share)
const at = share => {
  for (const [model, { own, from, to }] of s.moving) {
    if (model.data !== own) {
      s.moving.delete(model)
      continue
    } // it got other data
    put(
      model,
      Object.fromEntries(Object.keys(to).map(name => [name, between(from[name], to[name], share)])),
    )
  }
}
const end = () => {
  if (!s.moving) return
  const moved = s.moving
  s.moving = null
  for (const [model, { own, to }] of moved) {
    model.gliding = false
    model.goal = null
    if (model.data === own) put(model, to)
  }
}
const begin = () => {
  const moving = (s.moving = new Map())
  let first = null
  s.share = 0
  const frame = now => {
    if (s.moving !== moving) return
    first ??= now
    const t = Math.min(1, (now - first) / SPAN)
    s.share = 1 - (1 - t) ** 3
    if (t < 1) {
      at(s.share)
      requestAnimationFrame(frame)
    } else end()
  }
  requestAnimationFrame(frame)
  setTimeout(() => {
    if (s.moving === moving) end()
  }, 2 * SPAN) // a hidden tab gets no frames
}

if (!s.watching) {
  s.watching = true
  // A press picks in the final picture, and nothing moves during a drag.
  const press = down => () => {
    s.down = down
    if (down) end()
  }
  window.addEventListener("pointerdown", press(true), true)
  for (const name of ["pointerup", "pointercancel", "blur"])
    window.addEventListener(name, press(false), true)
}

if (!data) return // the figure was laid out; this call only adds the listeners
// Two changes of a source may come together, before the first call. Its data then moves already.
if (source !== lead && s.moving?.get(source)?.own === data) return

source.gliding = false
source.goal = null
s.moving?.delete(source)
if (source === lead) {
  end()
  const still =
    s.down || document.hidden || window.matchMedia("(prefers-reduced-motion: reduce)").matches
  if (data.x0?.length && !still) begin()
}
const names = ["x", "y", "xs", "ys"].filter(
  name => data[name]?.length && data[`${name}0`]?.length === data[name].length,
)
if (!s.moving || !names.length) return
const from = Object.fromEntries(names.map(name => [name, data[`${name}0`]]))
const to = Object.fromEntries(names.map(name => [name, data[name]]))
source.goal = { ...data }
source.gliding = true
s.moving.set(source, { own: data, from, to })
put(source, Object.fromEntries(names.map(name => [name, between(from[name], to[name], s.share)])))
