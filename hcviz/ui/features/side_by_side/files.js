// A tree as SVG, and the files of the sheet: its trees and its table.
const STEPS = 60000,
  GAP = 18,
  NAMED = 8.5,
  READABLE = 14,
  WIDEST_ROW = 26,
  LETTER = 0.6

// One number of the table; "–" where it is unknown.
const shownCost = x =>
  x === null ? "–" : Math.abs(x) >= 1000 ? Math.round(x).toLocaleString("en") : x.toPrecision(4)
const shownDistance = x => (x ? x.toFixed(3) : "0")
const shownTime = x => (x < 0.1 ? "< 0.1 s" : x < 10 ? `${x.toFixed(1)} s` : `${Math.round(x)} s`)
const shownCount = x => (x === null ? "–" : x.toLocaleString("en"))

// The size of the names beside a tree, 0 for none, and the width that they need.
function nameSize(state, row, width) {
  if (!state.names.length || row < NAMED) return [0, 0]
  const size = Math.min(12, row * 0.92)
  const longest = Math.max(...state.names.map(name => name.length))
  return [size, Math.min(0.48 * width, 12 + LETTER * size * longest)]
}

// A tree as SVG elements with their colours, so that a saved picture looks like the page.
function treeElements(column, state, width, row) {
  const height = row * state.items
  const [size, room] = nameSize(state, row, width)
  const ends = unpacked(column.lines, Uint16Array),
    colours = unpacked(column.colours, Int16Array)
  const wide = width - room - 3
  const x = k => (2 + (1 - ends[k] / STEPS) * (wide - 2)).toFixed(1),
    y = k => ((ends[k] / STEPS) * height).toFixed(1)
  const paths = new Map()
  colours.forEach((colour, k) => {
    const at = 4 * k
    const line = `M${x(at)} ${y(at + 1)}L${x(at + 2)} ${y(at + 3)}`
    paths.set(colour, (paths.get(colour) ?? "") + line)
  })
  const ink = code => (code < 0 ? state.ink.branch : state.palette[code % state.palette.length])
  const found = [...paths].map(([code, d]) =>
    svg("path", {
      d,
      fill: "none",
      stroke: ink(code),
      "stroke-width": Math.min(1.4, Math.max(0.35, row / 2.2)).toFixed(2),
      "stroke-linecap": "square",
    }),
  )
  if (!size) return found
  const order = unpacked(column.order, Int32Array),
    codes = unpacked(state.codes, Int16Array)
  order.forEach((item, k) =>
    found.push(
      svg(
        "text",
        {
          x: (wide + 5).toFixed(1),
          y: ((k + 0.5) * row).toFixed(1),
          "font-size": size.toFixed(1),
          "dominant-baseline": "central",
          fill: codes[item] < 0 ? state.ink.text : ink(codes[item]),
          "data-item": item,
        },
        short(state.names[item], Math.floor((room - 8) / (LETTER * size))),
        svg("title", {}, state.names[item]),
      ),
    ),
  )
  return found
}

function csvOf(state) {
  const quoted = text => `"${String(text).replaceAll('"', '""')}"`
  const head = "method,title,cost,distance_to_first,violated_answers,answers,queries,seconds"
  const rows = state.columns
    .filter(column => column.state === "done")
    .map(c =>
      [
        c.name,
        quoted(c.title),
        c.cost ?? "",
        c.distance,
        c.violated,
        state.answers,
        c.queries ?? "",
        c.seconds.toFixed(3),
      ].join(","),
    )
  return `${[head, ...rows].join("\n")}\n`
}

// All trees in one row, with their names and figures.
function pictureOf(state) {
  const done = state.columns.filter(column => column.state === "done")
  const each = 300,
    head = 30,
    foot = 42
  const row = Math.min(WIDEST_ROW, Math.max(READABLE, 420 / state.items))
  const named = state.items <= 150
  const tall = named ? row * state.items : 640
  const width = GAP + done.length * (each + GAP),
    height = GAP + head + tall + foot
  const text = (x, y, words, more = {}) =>
    svg("text", { x, y, fill: state.ink.text, "font-size": 12, ...more }, words)
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      "font-family": "system-ui, 'Helvetica Neue', Arial, sans-serif",
    },
    svg("rect", { width, height, fill: state.ink.paper }),
    done.map((column, k) => {
      const x = GAP + k * (each + GAP)
      const words = [`cost ${shownCost(column.cost)}`, `distance ${shownDistance(column.distance)}`]
      if (state.answers) words.push(`${column.violated} of ${state.answers} answers violated`)
      const more = [shownTime(column.seconds)]
      if (column.queries !== null) more.unshift(`${shownCount(column.queries)} asked for`)
      return [
        text(x, GAP + 10, column.title, { "font-weight": 600, "font-size": 13 }),
        svg(
          "g",
          { transform: `translate(${x} ${GAP + head})` },
          treeElements(column, state, each, tall / state.items),
        ),
        text(x, GAP + head + tall + 16, words.join(" · "), { "font-size": 11 }),
        text(x, GAP + head + tall + 32, more.join(" · "), { "font-size": 11 }),
      ]
    }),
  )
}

function savePicture(state, format) {
  const picture = pictureOf(state)
  const source = new XMLSerializer().serializeToString(picture)
  const name = `${state.file}-side-by-side.${format}`
  if (format === "svg") {
    saveBlob(name, new Blob([source], { type: "image/svg+xml" }))
    return
  }
  const image = new Image()
  image.onload = () => {
    const canvas = h("canvas")
    canvas.width = 2 * picture.getAttribute("width")
    canvas.height = 2 * picture.getAttribute("height")
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height)
    canvas.toBlob(blob => saveBlob(name, blob), "image/png")
  }
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`
}
