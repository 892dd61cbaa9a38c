#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_mpi.sh RANKS SCRIPT: runs a script in pvbatch on so many ranks, on this machine alone.
set -eu
PMB_RANKS=$1
export PMB_RANKS
# Containers may forbid what Open MPI's shared memory copies with; loopback is enough here.
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_plm_rsh_agent=false
log=$(mktemp)
trap 'rm -f "$log"' EXIT
timeout 240 mpirun --allow-run-as-root --oversubscribe -np "$1" pvbatch --symmetric "$2" 2>&1 | tee "$log"
# mpirun's status is lost in the pipe; the script's last words are what counts.
grep -qx '1 passed, 0 failed' "$log"
