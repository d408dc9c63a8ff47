"""The dashboard: ``panel serve app.py``. One explorer per browser session."""

from hcviz.ui import serve_page, warm

warm()
serve_page().servable(title="hcviz")
