# SPDX-License-Identifier: BSD-3-Clause
"""The plugin on a machine with a GPU: ./pmb pvpython Testing/GPU/gpu_plugin_tests.py [TEST...]

--rehearse, where there is no GPU: the same steps with the processor in the GPU's place, without what is said of the
GPU. This tests the tests."""
import sys

import gpu_faults
import gpu_memory
import gpu_pictures
from plugin_testing import load_plugin, run
from vtkmodules.vtkCommonCore import vtkLogger

TESTS = gpu_memory.TESTS + gpu_pictures.TESTS + gpu_faults.TESTS

if __name__ == "__main__":
    chosen = [name for name in sys.argv[1:] if not name.startswith("--")]
    unknown = set(chosen) - {test.__name__ for test in TESTS}
    if unknown:
        sys.exit(f"there is no test {sorted(unknown)}; there are {[test.__name__ for test in TESTS]}")
    load_plugin()
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_OFF)  # the tests read the messages themselves
    run(*(test for test in TESTS if not chosen or test.__name__ in chosen))
