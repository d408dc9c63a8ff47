"""Jobs: runs methods on threads, in processes and on a cluster.

- ``runner.py`` runs the method of a page; ``job.py`` has one run of it.
- ``background_runs.py`` runs methods of which only the last snapshot counts.
- ``compute_cache.py`` computes values in turn and stores them.
- ``fair_share.py`` decides which jobs of all sessions run; ``priority.py`` leaves the cores to the
  pages.
- ``snapshot_channel.py`` delivers snapshots one at a time.
- ``task.py`` runs one task, in the server or in a worker process.
- ``pool.py`` and ``worker.py`` are the two ends of the pipe to a worker process.
- ``shared_pool.py`` and ``shared_worker.py`` are the two ends of the pipe to a worker process that
  runs the samplers of several sessions.
- ``samples.py`` collects the trees of a sampler.
- ``budget.py`` ends a sampler's run.
- ``first_tree.py`` makes the tree that is shown while a sampler is being compiled.
- ``start_server.py`` starts the workers; ``warming.py`` compiles the kernels, and ``compiling.py``
  tells how far this is; ``worker_watchdog.py`` watches the workers of a cluster.
- ``cluster.py`` and ``long_task.py`` use Dask. They are imported only if an address is given.
"""

from hcviz.jobs.background_runs import BackgroundRuns, try_schedule
from hcviz.jobs.compute_cache import BackgroundRun, ComputeCache
from hcviz.jobs.job import RunLocation
from hcviz.jobs.pool import POOL
from hcviz.jobs.runner import Runner
from hcviz.jobs.samples import Samples
from hcviz.jobs.shared_pool import SHARED
from hcviz.jobs.snapshot_channel import Message
from hcviz.jobs.start_server import use_plain_kernels_while_compiling, warm

__all__ = [
    "POOL",
    "SHARED",
    "BackgroundRun",
    "BackgroundRuns",
    "ComputeCache",
    "Message",
    "RunLocation",
    "Runner",
    "Samples",
    "try_schedule",
    "use_plain_kernels_while_compiling",
    "warm",
]
