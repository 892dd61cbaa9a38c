# SPDX-License-Identifier: BSD-3-Clause
"""Runs a pvserver and a client for a test."""
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from plugin_testing import SKIPPED, equal, true

# Containers may forbid the system call of Open MPI's shared memory; loopback suffices. Without the variables of this
# process's MPI: mpirun would take itself for a part of it and end.
MPI_SETTINGS = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl_tcp_if_include": "lo",
                "OMPI_MCA_plm_rsh_agent": "false", "OMPI_MCA_mpi_yield_when_idle": "1"}
ENVIRONMENT = {**{name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMIX_"))},
               **MPI_SETTINGS}


class Server:
    """A pvserver on a free port, in its own process group, which ends with the block."""

    def __init__(self, ranks=0, plugins=""):
        """plugins: a list of plugins, see plugin_testing.plugin_list()."""
        launcher = mpirun(ranks) if ranks else []
        self.log = tempfile.NamedTemporaryFile(mode="w+", suffix=".log")
        self.process = subprocess.Popen([*launcher, "pvserver", "--server-port=0"], stdout=self.log,
                                        stderr=subprocess.STDOUT, start_new_session=True,
                                        env={**ENVIRONMENT, "PV_PLUGIN_CONFIG_FILE": plugins})

    def port(self):
        while True:
            found = re.search(r"Accepting connection\(s\): \S+:(\d+)", self.text())
            if found:
                return int(found.group(1))
            true(self.process.poll() is None, f"pvserver did not start: {self.text()}")
            time.sleep(0.1)

    def text(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as text:
            return text.read()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for kind in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, kind)  # the group that this server leads
                self.process.wait(timeout=10)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass
        self.log.close()


def finish(server, *command):
    """Runs the client; it and the server must exit with 0."""
    result = subprocess.run(["pvpython", *command], capture_output=True, text=True, check=False)
    equal(result.returncode, 0, f"exit code of {command}; it said {result.stdout} {result.stderr}")
    equal(server.process.wait(), 0, f"exit code of pvserver; it said {server.text()}")
    true("ERR|" not in result.stdout + result.stderr, f"{command} said {result.stdout} {result.stderr}")
    return result.stdout


def mpirun(ranks):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(ranks)]


def skip_without(*programs):
    for program in programs:
        if not shutil.which(program):
            print(f"skipped: '{program}' is not on PATH (Debian: paraview, openmpi-bin)")
            sys.exit(SKIPPED)
