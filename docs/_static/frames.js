// A figure of several steps: one is shown at a time, with buttons and the arrow keys.
document.addEventListener("DOMContentLoaded", () => {
  for (const figure of document.querySelectorAll("figure.frames")) {
    const steps = [...figure.querySelectorAll(".frame")]
    const bar = document.createElement("div")
    bar.className = "frames-bar"
    const back = document.createElement("button")
    const next = document.createElement("button")
    const place = document.createElement("output")
    back.type = next.type = "button"
    back.textContent = "Back"
    next.textContent = "Next"
    bar.append(back, next, place)
    figure.querySelector("figcaption").after(bar)
    figure.classList.add("stepped")
    let shown = 0
    const show = wanted => {
      shown = Math.max(0, Math.min(steps.length - 1, wanted))
      steps.forEach((step, k) => step.classList.toggle("shown", k === shown))
      const hadFocus = bar.contains(document.activeElement)
      back.disabled = shown === 0
      next.disabled = shown === steps.length - 1
      // A disabled button gets no keys.
      if (hadFocus && next.disabled) back.focus()
      if (hadFocus && back.disabled) next.focus()
      place.textContent = `Step ${shown + 1} of ${steps.length}`
    }
    back.addEventListener("click", () => show(shown - 1))
    next.addEventListener("click", () => show(shown + 1))
    bar.addEventListener("keydown", event => {
      if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        show(shown + (event.key === "ArrowLeft" ? -1 : 1))
        event.preventDefault()
      }
    })
    show(0)
  }
})
