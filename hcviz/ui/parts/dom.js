// Shared by all components: create elements, repaint and keep the focus, save and open files.

// A text with the codes of characters that reorder text. They can make a name look like another.
// `show_bidi` of core/text.py has the same list.
const BIDI_CONTROL = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

function visible(text) {
  return typeof text === "string"
    ? text.replace(
        BIDI_CONTROL,
        c => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
      )
    : text
}

// Attributes that a person reads or hears.
const READ = new Set(["title", "aria-label", "aria-description", "placeholder", "alt"])

function append(node, children) {
  node.append(
    ...children
      .flat(Infinity)
      .filter(child => child !== null && child !== undefined && child !== false)
      .map(visible),
  )
  return node
}

function h(tag, props = {}, ...children) {
  const node = document.createElement(tag)
  if (tag === "button") node.type = "button" // unless `props` say that it submits a form
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value)
    else if (key === "html") node.innerHTML = value
    else if (key === "value") node.value = value
    else if (key === "checked") node.checked = value
    else if (value === true) node.setAttribute(key, "")
    else node.setAttribute(key, READ.has(key) ? visible(value) : value)
  }
  return append(node, children)
}

// A button with a text; the `main` one of several is emphasised.
function textButton(key, text, act, title, main = false, disabled = false) {
  const props = { "data-key": key, class: main ? "main" : "", title, disabled, onclick: act }
  return h("button", props, text)
}

// The same as `h` for SVG elements.
function svg(tag, props = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag)
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value)
    else node.setAttribute(key, READ.has(key) ? visible(value) : value)
  }
  return append(node, children)
}

// The attribute "d" of a path through points; null begins a new line. `at(point)` is [x, y].
function pathOf(points, at) {
  let d = "",
    pen = "M"
  for (const point of points) {
    if (point === null) {
      pen = "M"
      continue
    }
    const [x, y] = at(point)
    d += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`
    pen = "L"
  }
  return d
}

// Unpack numbers that `pack` of parts/packing.py packed.
function unpacked(text, Kind) {
  return new Kind(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer)
}

// "1 item", "2,000 items", "3 branches": the same as count_noun in core/text.py.
function counted(number, noun) {
  const ending = number === 1 ? "" : noun.endsWith("ch") ? "es" : "s"
  return `${number.toLocaleString("en")} ${noun}${ending}`
}

// A text, cut to `most` letters.
function short(text, most) {
  return text.length > most ? text.slice(0, Math.max(3, most - 1)) + "…" : text
}

// Repaint when the size of the element changes.
function whenResized(root, repaint) {
  if (root.hcWatched) return
  root.hcWatched = new ResizeObserver(() => repaint())
  root.hcWatched.observe(root)
}

// The heading of a section, and `body(state, send)` below it while the section is open.
function foldable(state, send, body) {
  return [
    h(
      "h2",
      { class: "folds" },
      h(
        "button",
        {
          class: "bare",
          "data-key": `fold-${state.title}`,
          "aria-expanded": String(state.open),
          onclick: () => send("fold"),
        },
        h("i", { "aria-hidden": "true" }),
        state.title,
      ),
    ),
    ...(state.open ? [body(state, send)].flat() : []),
  ]
}

function options(pairs, chosen) {
  return pairs.map(([value, text, disabled, title]) =>
    h("option", { value, selected: value === chosen, disabled, title }, text),
  )
}

// A box that makes rows high enough for names; `settings.readable` keeps it.
function readableBox(settings, send) {
  return h(
    "label",
    {},
    h("input", {
      type: "checkbox",
      "data-key": "readable",
      checked: settings.readable,
      onchange: e => {
        settings.readable = e.target.checked
        send("repaint")
      },
    }),
    "Readable rows",
  )
}

// Choose between the heights of the tree and even ones.
function heightsSelect(chosen, send) {
  return h(
    "select",
    {
      "data-key": "heights",
      "aria-label": "Heights of the branches",
      onchange: e => send("heights", { value: e.target.value }),
    },
    options(
      [
        ["true", "true heights"],
        ["even", "even heights"],
      ],
      chosen,
    ),
  )
}

// Repaint `root` from `view()`. An element with data-key keeps the focus, and a field its typed
// text, which is sent when the person leaves the field. While a button is pressed or a list is open
// nothing is repainted, since a click must end on the element on which it began.
function painter(root, view) {
  let held = false
  let due = false
  let painting = false
  let edited = null // the field in which a person types, until it reports a change
  let carried = null // that field after a repaint, and the text that was drawn in it
  root.addEventListener(
    "input",
    event => {
      edited = event.target
    },
    true,
  )
  // Chrome sends "change" and "blur" for a field that is removed, although the person is in it.
  for (const name of ["change", "blur", "focusout"])
    root.addEventListener(
      name,
      event => {
        if (painting && event.target.tagName === "INPUT") event.stopImmediatePropagation()
        else if (name === "change") edited = carried = null
      },
      true,
    )
  const release = () => {
    if (held)
      setTimeout(() => {
        held = false
        if (due) paint()
      }, 0)
  }
  root.addEventListener("pointerdown", event => {
    held = event.target.tagName === "SELECT" ? "list" : true
  })
  window.addEventListener("pointerup", () => {
    if (held !== "list") release()
  })
  window.addEventListener("pointercancel", release)
  root.addEventListener("change", release)
  root.addEventListener("focusout", event => {
    // The browser compares with the text that was carried over, which was not sent.
    if (carried?.field === event.target && event.target.value !== carried.drawn)
      event.target.dispatchEvent(new Event("change", { bubbles: true }))
    release()
  })
  root.addEventListener("keydown", event => {
    release()
    // Enter leaves the field, so that the next key is a shortcut.
    if (event.key === "Enter" && event.target.tagName === "INPUT") event.target.blur()
  })
  const paint = () => {
    due = Boolean(held)
    if (due) return
    const active = root.getRootNode().activeElement
    const key = active && root.contains(active) && active.dataset.key
    const typed = key && active.tagName === "INPUT" && !["checkbox", "range"].includes(active.type)
    const keep = typed
      ? { value: active.value, start: active.selectionStart, end: active.selectionEnd }
      : null
    const scroll = [...root.querySelectorAll("[data-scroll]")].map(node => [
      node.dataset.scroll,
      node.scrollTop,
    ])
    const isEdited = keep !== null && edited === active
    const made = [view()].flat(Infinity).filter(Boolean)
    painting = true
    try {
      root.replaceChildren(...made)
    } finally {
      painting = false
    }
    for (const [name, top] of scroll) {
      const node = root.querySelector(`[data-scroll="${CSS.escape(name)}"]`)
      if (node) node.scrollTop = top
    }
    const again = key && root.querySelector(`[data-key="${CSS.escape(key)}"]`)
    if (!again) {
      if (isEdited) active.dispatchEvent(new Event("change")) // there is no field for the text
      return
    }
    again.focus({ preventScroll: true })
    if (keep && again.tagName === "INPUT") {
      const drawn = again.value
      again.value = keep.value
      if (keep.value !== drawn) again.dispatchEvent(new Event("input"))
      edited = isEdited ? again : null
      carried = isEdited ? { field: again, drawn } : null
      try {
        again.setSelectionRange(keep.start, keep.end)
      } catch {
        /* number fields have none */
      }
    }
  }
  return paint
}

// The properties of a model that are JSON text, each parsed once for each text.
function parsedProperties(model) {
  const parsed = {}
  return name => {
    const text = model[name]
    if (parsed[name]?.text !== text) parsed[name] = { text, value: JSON.parse(text) }
    return parsed[name].value
  }
}

// A component repaints when `state` changes. `live(values, root)` updates what changes many
// times a second, without a repaint.
function component(name, view, live = null) {
  return ({ model, view: bokeh }) => {
    // When the height of an element changes, Bokeh lays out all figures of the page, which is slow.
    // A part contains no figure, so this is switched off. The tools are an exception: the height of
    // the tree below them changes when they need another row.
    let tall = 0
    layOutOnlyIf(bokeh, () => name === "tools" && tall !== (tall = root.offsetHeight))
    const root = h("div", { class: `hc-${name}` })
    const now = parsedProperties(model)
    const send = (act, more = {}) => {
      const { section, ...fields } = more
      checkMessage(section ? model.acts[section] : model.acts, act, fields)
      model.send_msg({ act, ...more })
    }
    const paint = painter(root, () => {
      const made = view(
        now("state"),
        (act, more = {}) => (act === "repaint" ? paint() : send(act, more)),
        root,
      )
      if (live) queueMicrotask(() => live(now("live"), root, send))
      return made
    })
    paint()
    model.on("state", paint)
    if (live) model.on("live", () => live(now("live"), root, send))
    model.on("msg:custom", message => {
      if (message.download) download(message)
      if (message.copy) copy(message.copy, send)
      if (message.upload) acknowledge(message)
      if (message.focus) focusField(root, message.focus)
      if (message.preview) root.hcPreview?.(message)
    })
    return root
  }
}

// Put the keyboard's focus into a field, after the changes that came with the message. A touch
// screen would cover the page with its keyboard.
function focusField(root, selector) {
  if (matchMedia("(pointer: coarse)").matches) return
  requestAnimationFrame(() => {
    const field = root.querySelector(selector)
    if (field?.offsetParent) field.focus({ preventScroll: true })
  })
}

function download({ download: filename, base64, mime }) {
  const bytes = Uint8Array.from(atob(base64), c => c.charCodeAt(0))
  saveBlob(filename, new Blob([bytes], { type: mime }))
}

// Let the browser save a file.
function saveBlob(filename, blob) {
  const link = h("a", { href: URL.createObjectURL(blob), download: filename })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

// What the browser keeps for this address, by its key; null for nothing.
function browserValue(key) {
  try {
    return localStorage.getItem(key)
  } catch {
    return null // not allowed here
  }
}

function keepInBrowser(key, value) {
  try {
    if (value === null) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    /* not allowed here */
  }
}

async function copy(text, send) {
  try {
    await navigator.clipboard.writeText(text)
    send("copied", { ok: true })
  } catch {
    send("copied", { ok: false })
  }
}

// Uploads in progress, by id: the number of pieces that the server has, and how to continue.
const UPLOADS = new Map()

function acknowledge({ upload, received, stop }) {
  const progress = UPLOADS.get(upload)
  if (!progress) return
  progress.acknowledged = Math.max(progress.acknowledged, received)
  progress.stop ||= stop
  progress.wake?.()
}

// Send a file in pieces, since a message to the server has 20 MB at most. At most four pieces are
// not acknowledged, so that the server can show the progress and cancel the upload.
async function sendFile(file, send, kind) {
  const PIECE = 1 << 21
  const AHEAD = 4
  const id = `${performance.now()}-${Math.random()}`
  const pieces = Math.max(1, Math.ceil(file.size / PIECE))
  const progress = { acknowledged: 0, stop: false, wake: null }
  UPLOADS.set(id, progress)
  for (let number = 0; number < pieces; number++) {
    while (number - progress.acknowledged >= AHEAD && !progress.stop)
      await new Promise(done => {
        progress.wake = done
      })
    if (progress.stop) break
    const bytes = new Uint8Array(
      await file.slice(number * PIECE, (number + 1) * PIECE).arrayBuffer(),
    )
    let text = ""
    for (let i = 0; i < bytes.length; i += 32768)
      text += String.fromCharCode(...bytes.subarray(i, i + 32768))
    send("upload", {
      id,
      kind,
      name: file.name,
      size: file.size,
      piece: number,
      pieces,
      base64: btoa(text),
    })
  }
  UPLOADS.delete(id)
}

// Send a file that a person chose, unless it is too large.
function sendChosen(file, limit, send, kind) {
  if (file.size > limit) send("too-large", { name: file.name, size: file.size })
  else sendFile(file, send, kind).catch(() => send("unreadable", { name: file.name }))
}

// Let a person choose a file, and send it.
function pickFile(accept, limit, send, kind) {
  const input = h("input", { type: "file", accept })
  input.addEventListener("change", () => {
    if (input.files[0]) sendChosen(input.files[0], limit, send, kind)
  })
  input.style.display = "none"
  document.body.append(input)
  input.click()
  setTimeout(() => input.remove(), 60000)
}

const ICONS = {
  undo: '<path d="M9 14 4 9l5-5"/><path d="M4 9h10a6 6 0 0 1 0 12h-3"/>',
  redo: '<path d="m15 14 5-5-5-5"/><path d="M20 9H10a6 6 0 0 0 0 12h3"/>',
  run: '<path d="M7 4v16l13-8z"/>',
  stop: '<rect x="5" y="5" width="14" height="14" rx="1.5"/>',
  pause: '<path d="M8 4v16M16 4v16"/>',
  sun:
    '<circle cx="12" cy="12" r="4"/><path d="M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4' +
    'M17.6 17.6 19 19M19 5l-1.4 1.4M6.4 17.6 5 19"/>',
  moon: '<path d="M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z"/>',
  more: '<path d="M4 6h16M4 12h16M4 18h16"/>',
  bin: '<path d="M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13"/>',
  note: '<path d="M4 20h4L19 9l-4-4L4 16z"/>',
  reset:
    '<path d="M4 4v6h6M20 20v-6h-6"/><path d="M20 9a8 8 0 0 0-14-3L4 10M4 15a8 8 0 0 0 14 3l2-4"/>',
  check: '<path d="m5 12 5 5 9-11"/>',
  find: '<circle cx="10.5" cy="10.5" r="6"/><path d="m15 15 5.5 5.5"/>',
  lock: '<rect x="5" y="11" width="14" height="9" rx="2"/><path d="M8 11V7a4 4 0 0 1 8 0v4"/>',
  close: '<path d="M6 6l12 12M18 6 6 18"/>',
}

function icon(name) {
  const span = h("span", { class: "icon", "aria-hidden": "true" })
  span.innerHTML =
    '<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.9" ' +
    `stroke-linecap="round" stroke-linejoin="round">${ICONS[name]}</svg>`
  return span
}
