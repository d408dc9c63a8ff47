// What a page of paper shows, in CSS pixels: A4 within margins of 10 mm, without the caption.
const PAPER = { long: 1040, short: 710, caption: 44 }

// The height of the tabs and tools above the tree, which are not printed.
function heightOfTools(node) {
  let height = 0
  for (const child of node.querySelectorAll("*")) {
    if (child.matches(".hc-tabs, .hc-tools")) height += child.offsetHeight
    if (child.shadowRoot) height += heightOfTools(child.shadowRoot)
  }
  return height
}

// Prepare the page for the print style sheet: the tree keeps the size that it has on the screen,
// since Bokeh does not draw it again for paper, and is enlarged or reduced to one page. Return a
// function that stops this.
function fitToPaper(root) {
  const page = document.createElement("style")
  const before = () => {
    const main = root.querySelector("main")
    const width = main.offsetWidth
    const height = main.offsetHeight - heightOfTools(main)
    const wide = width >= height
    const [across, down] = wide ? [PAPER.long, PAPER.short] : [PAPER.short, PAPER.long]
    const zoom = Math.min(across / width, (down - PAPER.caption) / height)
    page.textContent = `@page { size: A4 ${wide ? "landscape" : "portrait"}; margin: 10mm }`
    document.head.append(page)
    root.style.setProperty("--print-width", `${width}px`)
    root.style.setProperty("--print-height", `${height}px`)
    root.style.setProperty("--print-zoom", zoom)
  }
  const after = () => page.remove()
  window.addEventListener("beforeprint", before)
  window.addEventListener("afterprint", after)
  return () => {
    window.removeEventListener("beforeprint", before)
    window.removeEventListener("afterprint", after)
    after()
  }
}
