// Shows what a click takes before the server has answered: the clade of a click is emphasised at
// once, and the clade under the pointer is shaded. The server's answer replaces the preview. Until
// it comes, the server's data about earlier clicks are kept in `received`. Sources are changed in
// place, with `change.emit`, so that no change is sent to the server. While the tree moves
// (motion.js) the places at the end of the movement count.
const { what, figure } = cb_data
const s = (shape._hc ??= { clicks: 0, open: null, received: new Map() })
const selected = [lines, ...bands, frames]
const goal = source => source.goal ?? source.data

// The clades drawn, in the order of `shape`: heights, pieces of the path, first and last row. A
// piece of four points is the bar of an open clade. A piece of three points is the triangle of a
// folded one.
const read = () => {
  if (s.of === goal(tree).x && s.rows === shape.data.top) return s
  const { x } = goal(tree),
    { top, bottom } = shape.data
  s.of = x
  s.rows = top
  s.nodes = []
  s.folds = []
  s.height = 0
  const sides = []
  for (let from = 0, to; from < x.length; from = to + 1) {
    for (to = from; to < x.length && !Number.isNaN(x[to]);) to++
    if (to - from === 3) sides.push(from)
    if (to - from !== 4) continue // a single branch, not a node with its bar
    const k = s.nodes.length,
      height = x[from + 1]
    s.nodes.push({ height, from, top: top[k], bottom: bottom[k] })
    s.height = Math.max(s.height, height)
  }
  sides.forEach((from, k) => {
    const at = s.nodes.length + k
    s.folds.push({ height: x[from + 1], from, top: top[at], bottom: bottom[at], fold: true })
  })
  return s
}

// The index in `text` of the name whose box contains a point of the names' figure; -1 for none. The
// same as `LabelFigure.row_at`.
const nameAt = (x, y) => {
  const d = goal(text),
    pixels = (tree_figure.inner_height || 640) / (rows.end - rows.start)
  let found = -1,
    least = (box * parseFloat(words.text_font_size.value)) / 2
  for (let k = 0; k < d.text.length; k++) {
    const off = Math.abs(-d.y[k] - y) * pixels
    if (off <= least && x >= d.x[k] && x <= d.x[k] + d.wide[k]) {
      found = k
      least = off
    }
  }
  return found
}

// Slab picking, as `TreeScene.pick`: the widest clade in this row that is not higher than x, and
// its parent, the narrowest clade around it. A row outside all clades is an item, if rows are
// items.
const pick = (name, x, y) => {
  const named = name === "labels" ? nameAt(x, y) : -1
  if (named >= 0) y = -goal(text).y[named]
  const { nodes, folds, height } = read(),
    row = Math.floor(Math.min(Math.max(y, 0), count() - 1))
  const slack = (4 * height) / (tree_figure.inner_width || 420)
  let found = null,
    parent = null
  for (const node of nodes) {
    if (node.top > row || node.bottom <= row) continue
    const within = name === "tree" && x >= 0 && node.height <= x + slack
    if (within && (!found || node.bottom - node.top > found.bottom - found.top)) found = node
  }
  found ??= folds.find(fold => fold.top <= row && row < fold.bottom) ?? null
  if (!found && shape.tags[0] !== "plain") return null
  found ??= { height: 0, top: row, bottom: row + 1, leaf: true }
  for (const node of nodes) {
    if (node === found || node.top > found.top || node.bottom < found.bottom) continue
    if (!parent || node.bottom - node.top < parent.bottom - parent.top) parent = node
  }
  return { ...found, parent }
}
const count = () => read().nodes.reduce((most, node) => Math.max(most, node.bottom), 1)

// The pieces of the path within a clade's box, and its branch to its parent.
const path = ({ height, top, bottom, parent, leaf, fold, from: own }) => {
  const xs = [],
    ys = []
  const add = (x, y) => {
    for (let from = 0; from < x.length;) {
      let to = from,
        inside = true
      for (; to < x.length && !Number.isNaN(x[to]); to++) {
        inside &&= x[to] <= height && -y[to] >= top && -y[to] <= bottom
      }
      if (inside)
        for (let k = from; k <= to; k++) {
          xs.push(x[k])
          ys.push(y[k])
        }
      from = to + 1
    }
  }
  if (!leaf) for (const { x, y } of [goal(tree), goal(stems)]) add(x, y)
  if (parent) {
    const { y } = goal(tree)
    const at = leaf ? -(top + bottom) / 2 : fold ? y[own + 1] : (y[own + 1] + y[own + 2]) / 2
    xs.push(height, parent.height, NaN)
    ys.push(at, at, NaN)
  }
  return { x: Float32Array.from(xs), y: Float32Array.from(ys) }
}

const put = (source, data) => {
  tree._motion?.moving?.delete(source)
  source.goal = null
  // The old places of points (motion.js) belong to the columns that are replaced.
  for (const name of ["x0", "y0"]) if (!(name in data)) delete source.data[name]
  Object.assign(source.data, data)
  source.change.emit()
}

const show = () => {
  const { name, x, y } = s.open,
    found = pick(name, x, y)
  if (!found) return
  const { top, bottom } = found
  put(lines, path(found))
  for (const band of bands) put(band, { middle: [-(top + bottom) / 2], span: [bottom - top] })
  if (shape.tags[1] > 0) {
    const square = heat_range.tags[0] === "rows"
    const [left, right] = square ? [top, bottom] : [0, shape.tags[1]]
    put(frames, { left: [left], right: [right], top: [-top], bottom: [-bottom] })
  }
}

if (what === "init") {
  // for drag.js, which picks in the same rows
  Object.assign(s, { pick, path, nameAt })
} else if (what === "tap") {
  s.clicks += 1
  if (mode.tags[0] !== "select" || cb_obj.x == null) return
  if (!s.open) for (const source of selected) s.received.set(source, { ...goal(source) })
  s.open = { name: figure, x: cb_obj.x, y: -cb_obj.y, clicks: s.clicks }
  show()
} else if (what === "received") {
  if (!s.open) return
  if (selected.includes(cb_obj)) s.received.set(cb_obj, { ...goal(cb_obj) })
  show()
} else if (what === "answered") {
  if (!s.open || answer.data.count[0] < s.open.clicks) return
  s.open = null
  for (const [source, data] of s.received) put(source, data)
} else if (what === "redrawn") {
  // the clade under the pointer may be gone
  if (hovered.data.left.length) put(hovered, { left: [], right: [], top: [], bottom: [] })
} else if (what === "over") {
  const found =
    cb_obj.x == null || cb_obj.event_name === "mouseleave"
      ? null
      : pick(figure, cb_obj.x, -cb_obj.y)
  const old = hovered.data.left.length ? [hovered.data.left[0], hovered.data.top[0]].join() : ""
  const shade = found
    ? { left: [found.height], right: [tree_range.end], top: [-found.top], bottom: [-found.bottom] }
    : { left: [], right: [], top: [], bottom: [] }
  if (old !== (found ? [found.height, -found.top].join() : "")) put(hovered, shade)
}
