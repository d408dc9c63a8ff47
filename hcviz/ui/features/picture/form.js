// The form that saves a picture. Its values are kept while the page is open.
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

function pictureForm(save) {
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
  return h(
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
    h(
      "button",
      {
        class: "main",
        "data-key": "save-picture",
        onclick: () => {
          const [, width, height] = PAGES[picture.page]
          const { format, heatmap, supports, names, caption } = picture
          save({
            format,
            width: width ?? picture.width,
            height: height ?? picture.height,
            heatmap,
            supports,
            names,
            caption,
          })
        },
      },
      "Save picture",
    ),
  )
}
