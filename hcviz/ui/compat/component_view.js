// Internals of Panel 1.9.4 and BokehJS 3.9.2: `view.after_resize` of a component is called when any
// element in it changes its size, and lays out all figures of the page. Contract test:
// tests/browser/test_compat.py.
function layOutOnlyIf(view, isNeeded) {
  const layOut = view.after_resize.bind(view)
  view.after_resize = () => {
    if (isNeeded()) layOut()
  }
}

// The Bokeh document of a component.
const documentOf = view => view.model.document
