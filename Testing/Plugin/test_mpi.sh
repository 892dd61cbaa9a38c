#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Usage: test_mpi.sh RANKS: mpi_pieces.py in pvbatch on so many ranks, on this machine alone. 77: skipped.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd -P)
for program in mpirun pvbatch; do
  command -v "$program" >/dev/null || { echo "skipped: '$program' is not on PATH (Debian: openmpi-bin, paraview)"; exit 77; }
done
PMB_RANKS=$1
export PMB_RANKS
# Containers may forbid what Open MPI's shared memory copies with; loopback is enough here.
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_plm_rsh_agent=false
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
pvbatch "$here/mpi_pieces.py" write "$folder"
mpirun --allow-run-as-root --oversubscribe -np "$1" pvbatch --symmetric "$here/mpi_pieces.py" ranks "$folder" \
  >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
cat "$folder/log"
# Each rank says so: the exit status of a program in mpirun is not that of its script alone.
[ "$(find "$folder" -name 'passed.*' | wc -l)" -eq "$1" ]
