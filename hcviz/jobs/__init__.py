"""Jobs: the one place that knows threads and processes.

``courier.py`` hands snapshots over, never two at a time; ``task.py`` runs one task, here or in a
worker; ``worker.py`` is the worker's side, ``pool.py`` the server's side of the same pipe;
``samples.py`` keeps what a sampler's trees say; ``runner.py`` is what a page calls, ``aside.py``
what it asks for beside its run; ``cluster.py`` and ``longtask.py`` are for machines elsewhere, and
imported where somebody asks for them.
"""

from hcviz.jobs.aside import Aside, SideRun
from hcviz.jobs.courier import Message
from hcviz.jobs.pool import POOL, warm
from hcviz.jobs.runner import Place, Runner
from hcviz.jobs.samples import Samples

__all__ = ["POOL", "Aside", "Message", "Place", "Runner", "Samples", "SideRun", "warm"]
