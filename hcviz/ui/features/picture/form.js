// The form that saves a picture, and shows a small one of what it would save. Its values are kept
// while the page is open.
// Page -> its title, width and height in millimetres.
const PAGES = {
  fit: ["As large as needed", 0, 0],
  a4: ["A4", 210, 297],
  "a4-landscape": ["A4, landscape", 297, 210],
  a3: ["A3", 297, 420],
  "a3-landscape": ["A3, landscape", 420, 297],
  slide: ["Slide, 16:9", 338, 190],
  own: ["Own size", null, null],
}
const FORMATS = [
  ["svg", "SVG"],
  ["pdf", "PDF"],
  ["png", "PNG"],
]
const picture = {
  format: "svg",
  page: "fit",
  width: 210,
  height: 297,
  heatmap: true,
  supports: true,
  names: true,
  caption: false,
}
// The requests for previews: the last number, the one to come, and the last answer.
const previews = { number: 0, timer: 0, answer: null }
// Milliseconds after the last change until a preview is asked for.
const PREVIEW_DELAY = 150

// What the server gets of the form.
function pictureFields() {
  const [, width, height] = PAGES[picture.page]
  const { format, heatmap, supports, names, caption } = picture
  return {
    format,
    width: width ?? picture.width,
    height: height ?? picture.height,
    heatmap,
    supports,
    names,
    caption,
  }
}

// `save(fields)` saves the picture. Return the element, and functions that ask for a preview and
// show the answer.
function pictureForm(save, send) {
  const image = h("img", { alt: "Preview of the picture", hidden: true })
  const note = h("p", { role: "status" })
  const frame = h("div", { class: "preview" }, h("div", { class: "page" }, image), note)
  const draw = () => {
    const { answer } = previews
    image.hidden = !answer?.url
    if (answer?.url) image.src = answer.url
    note.textContent = answer?.note ?? ""
  }
  const show = answer => {
    if (answer.preview !== previews.number) return
    previews.answer = answer
    frame.removeAttribute("aria-busy")
    draw()
  }
  const ask = () => {
    frame.setAttribute("aria-busy", "true")
    clearTimeout(previews.timer)
    previews.timer = setTimeout(() => {
      previews.number += 1
      send("preview-picture", { ...pictureFields(), number: previews.number })
    }, PREVIEW_DELAY)
  }
  draw()
  const select = (key, label, values) =>
    h(
      "label",
      {},
      h("span", {}, label),
      h(
        "select",
        {
          "data-key": `picture-${key}`,
          onchange: event => {
            picture[key] = event.target.value
            own.hidden = picture.page !== "own"
            ask()
          },
        },
        options(values, picture[key]),
      ),
    )
  const length = (key, label) =>
    h("input", {
      type: "number",
      min: 20,
      max: 5000,
      value: picture[key],
      "data-key": `picture-${key}`,
      "aria-label": label,
      onchange: event => {
        picture[key] = Number(event.target.value)
        ask()
      },
    })
  const check = (key, label) =>
    h(
      "label",
      { class: "check" },
      h("input", {
        type: "checkbox",
        checked: picture[key],
        "data-key": `picture-${key}`,
        onchange: event => {
          picture[key] = event.target.checked
          ask()
        },
      }),
      label,
    )
  const own = h(
    "div",
    { class: "custom-size", hidden: picture.page !== "own" },
    length("width", "Width in millimetres"),
    " × ",
    length("height", "Height in millimetres"),
    " mm",
  )
  const pages = Object.entries(PAGES).map(([key, [title]]) => [key, title])
  const element = h(
    "div",
    {
      class: "picture-form",
      role: "group",
      "aria-label": "Picture",
      onclick: event => event.stopPropagation(),
    },
    select("format", "Format", FORMATS),
    select("page", "Page", pages),
    own,
    h(
      "div",
      { class: "parts" },
      check("heatmap", "Heatmap"),
      check("supports", "Supports"),
      check("names", "Group names"),
      check("caption", "How it was made"),
    ),
    frame,
    h(
      "button",
      { class: "main", "data-key": "save-picture", onclick: () => save(pictureFields()) },
      "Save picture",
    ),
  )
  return { element, ask, show }
}
