// Internals of BokehJS 3.9.2: the view of a figure (`Bokeh.index`), its scales (`view.frame`), and
// the element on which its gestures listen (`view.canvas_view.events_el`). Contract test:
// tests/browser/test_compat.py.
const figureView = {
  // The element of a figure, or undefined before it is drawn.
  element: figure => Bokeh.index.find_one(figure)?.el,
  // The scales between data and pixels: {x, y}, each with `compute` and `invert`.
  scales: figure => {
    const { x_scale, y_scale } = Bokeh.index.find_one(figure).frame
    return { x: x_scale, y: y_scale }
  },
  // The element that receives Bokeh's pointer events. It is another one after each new drawing.
  gestures: figure => Bokeh.index.find_one(figure)?.canvas_view?.events_el,
}
