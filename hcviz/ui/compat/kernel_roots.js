// Internal of Panel 1.9.4 (panel/viewable.py): a notebook's document has a root with a
// `client_comm_id`. Contract test: tests/test_compat_sessions.py.
const isInNotebook = page => page.roots().some(root => root.client_comm_id)
