"""A process that ends while a run is in progress prints nothing about it."""

from __future__ import annotations

import logging
import subprocess
import sys

from hcviz.core.interpreter_exit import log_fault
from tests.conftest import ROOT

#: Another thread keeps the interpreter in its last phase until the run's thread has ended. So the
#: run asks for its next task after threads can no longer start, as it may by chance otherwise.
SCRIPT = """
import threading
from hcviz.datasets import load
from hcviz.jobs.runner import Runner
from hcviz.jobs.samples import Samples

begun = threading.Event()
problem = load("iris").problem()
runner = Runner(lambda message: begun.set())
runner.start(0, "ddt", problem, {"steps": 10**8}, 0, samples=Samples(problem.n_items))
assert begun.wait(300)
(run,) = [each for each in threading.enumerate() if each.name.startswith("hcviz-run")]
threading.Thread(target=run.join, args=(300,)).start()
"""


def test_a_run_in_progress_at_the_end_prints_nothing():
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, cwd=ROOT, timeout=600
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_errors_of_a_running_interpreter_are_logged(caplog):
    log = logging.getLogger("hcviz.test")
    log_fault(log, RuntimeError("cannot schedule new futures after shutdown"), "It %s.", "failed")
    (record,) = caplog.records
    assert (record.getMessage(), record.levelno) == ("It failed.", logging.ERROR)
    assert record.exc_info is not None
