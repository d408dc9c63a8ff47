"""Jobs: the one place that knows threads and processes.

``courier.py`` hands snapshots over, never two at a time; ``task.py`` runs one task, here or in a
worker; ``worker.py`` is the worker's side, ``pool.py`` the server's side of the same pipe;
``samples.py`` keeps what a sampler's trees say; ``runner.py`` is what a page calls for
its own run, ``behind.py`` for one of which only the end counts, ``aside.py`` for answers to be
worked out in turn and kept; ``cluster.py`` and ``longtask.py`` are for machines elsewhere, and
imported where somebody asks for them.
"""

from hcviz.jobs.aside import Aside, SideRun
from hcviz.jobs.behind import Behind, hand_over
from hcviz.jobs.courier import Message
from hcviz.jobs.pool import POOL, warm
from hcviz.jobs.runner import Place, Runner
from hcviz.jobs.samples import Samples

__all__ = [
    "POOL",
    "Aside",
    "Behind",
    "Message",
    "Place",
    "Runner",
    "Samples",
    "SideRun",
    "hand_over",
    "warm",
]
