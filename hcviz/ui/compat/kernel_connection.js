// The connection of a notebook page to its kernel. Internals of Panel 1.9.4
// (panel/models/comm_manager.ts): a root's `_client_comm`, and `_document_changed`,
// `process_events`, `_event_buffer`, `_blocked` and `debounce` of a `CommManager`. Contract test:
// tests/browser/test_lab.py.
//
// Panel sends the kernel's own changes back to the kernel, whole data sources included. Bokeh's
// server connection ignores such changes (`event.sync`). Panel also waits 50 ms for more changes.
// Changes that are sent before the kernel is ready are lost. So they are sent again until
// `isReady()`.
function kernelConnections(page, isReady) {
  const managers = page.roots().filter(root => root._client_comm)
  for (const manager of managers) {
    if (Object.hasOwn(manager, "process_events")) continue
    const changed = manager._document_changed.bind(manager)
    const send = manager.process_events.bind(manager)
    manager._document_changed = event => {
      if (event.sync) changed(event)
    }
    manager.process_events = () => {
      const again = isReady()
        ? []
        : manager._event_buffer.filter(event => event.kind !== "MessageSent")
      send()
      manager._event_buffer = again
    }
  }
  return {
    // An answer to a lost message blocks the connection: free it.
    unblock: () => {
      for (const manager of managers) manager._blocked = false
    },
    sendAtOnce: () => {
      for (const manager of managers) manager.setv({ debounce: 0 }, { sync: false })
    },
  }
}
